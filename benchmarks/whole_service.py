"""`webdata serve`, with all its engines."""

from webdata.main import main

if __name__ == "__main__":
    main(["serve"])
