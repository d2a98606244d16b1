"""Search over the memories of one space: by meaning and words, by keyword, by category.

    result = search(access, query="Who signs off releases?")
    for match in result.matches:
        match.memory.text, match.score, match.scores, match.related

`service` is the way in; `results` is what comes out. Behind them: `facts` (what a search must know first), `words`
(the weighted terms of a question, typos included), `legs` (candidates and their exact scores), `neighbours` (what
stands beside a candidate), `fusion` (one order out of all that), `keyword`, `related`, and `index` (the vector
indexes of large spaces). How well and how fast it works is measured by `benchmarks/retrieval.py` and
`benchmarks/recall.py`; `docs/search.md` explains it to its users.
"""
