"""git over HTTP: `git clone http://USER:KEY@HOST/git/SPACE.git`, served by git itself from a mirror of the rows.

- `requests`: what is asked for, and by whom;
- `bodies`: request bodies, bounded and unpacked, in temporary files;
- `places`: how many are served at once;
- `processes`: one git process whose output is streamed;
- `receiving`: a push, from its pack to the answer;
- `endpoint`: the ASGI application that puts them together.
"""
