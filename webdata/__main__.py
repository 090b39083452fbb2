"""`python -m webdata`."""

from webdata.main import main

main(prog_name="python -m webdata")
