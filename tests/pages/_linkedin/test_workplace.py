import pytest

from webdata.pages._linkedin.workplace import is_hybrid, is_remote


@pytest.mark.parametrize(
    "text",
    [
        "Nurse (Remote)", "Remote Nurse", "Nurse - Work From Home", "Enfermera, remoto", "Remote Software Engineer",
        "Senior Remote Python Developer", "Developer - Remote Work", "Remote, US", "Software Engineer, Fully Remote",
        "Agent (Remote in Texas)", "Remote", "Work from anywhere", "Anywhere in the US", "Executive | 100% Remote",
        "Infirmière en télétravail", "Remote Patient Monitoring Nurse (Remote)", "Desarrollador remoto",
        "Remote Systems Administrator", "United States (Remote)", "Remote or Hybrid", "Entwickler (Homeoffice)",
        "Praca zdalna", "Программист (удалённо)", "エンジニア 在宅勤務", "백엔드 개발자 (재택)",
    ],
)  # fmt: skip
def test_a_word_about_the_workplace_counts(text):
    """Alone, at the end of its segment, with words of the workplace, or before a trade of the desk."""
    assert is_remote(text)


@pytest.mark.parametrize(
    "text",
    [
        "Engineer, Remote Desktop Services", "Remote Start Technician", "Anywhere Real Estate Agent", "Remote, OR",
        "Remote Sensing Scientist", "Nurse (not remote)", "Remote Sensor Electrician",
        "On-site only, remote not possible", "Remote: no", "Recruiter at Remote",
        "Remote Keyless Entry Installer", "Remote, Oregon, United States", "Remote Weapon Station Operator",
        "Operador de control remoto", "Conseiller vente à distance", "Remote Health Nurse", "Home Based Therapist",
        "Remote Operations Center Technician", "TV Remote Repair Technician", "Nurse, Remoteville", "No remote work",
        "praca nie zdalna", "не удалённо",
    ],
)  # fmt: skip
def test_a_word_of_a_product_a_trade_or_a_town_does_not_count(text):
    """Nor does one that is denied."""
    assert not is_remote(text)


@pytest.mark.parametrize(
    ("text", "hybrid"),
    [
        ("Gerente de Projetos - Híbrido SP", True), ("Analyst, Hybrid", True), ("Hybrid Project Manager", True),
        ("Hybrid Cloud Engineer", False), ("Toyota Hybrid Mechanic", False), ("Hybrid App Developer", False),
        ("Analyst (non-hybrid)", False),
    ],
)  # fmt: skip
def test_hybrid_is_read_by_the_same_rules(text, hybrid):
    """Products are hybrids too."""
    assert hybrid == is_hybrid(text)
