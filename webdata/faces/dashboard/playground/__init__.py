"""The playground: a form for each resource, the answer to look at, and the same call as code."""
