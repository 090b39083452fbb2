"""An egg of the project, as scrapyd takes it: `python setup.py bdist_egg`, which `scrapyd-deploy` runs."""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["webdata", "webdata.*"]), "webdata.schemas"],
    package_dir={"webdata.schemas": "schemas"},
    package_data={"": ["*", "static/*", "templates/*", "url_files/*"]},
)
