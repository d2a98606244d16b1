"""Splitting a text into facts, and naming how each acts on what is remembered already.

extractor = get_extractor()                         # None when EXTRACTION_PROVIDER=none
facts = extractor.extract("Clara moved to Porto.", candidates)
"""
