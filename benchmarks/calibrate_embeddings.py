"""What the similarities of an embedding model mean: the measurement behind the thresholds of a `ModelSpec`.

    bin/run python -m benchmarks.calibrate_embeddings [folder with xquad.en.json, xquad.de.json, …]

It embeds a few hundred labelled pairs with the configured provider and prints, for each kind of pair, how similar the
two texts are. A threshold may be used where it separates kinds: a memory may be forgotten on similarity alone only
above every pair that says two different things.
"""

import itertools
import json
import os
import random
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import django
import numpy as np

Pair = tuple[str, str]

# One statement said in other words, and the statement with one thing changed.
STATEMENTS: Sequence[tuple[str, str, str]] = (
    ("The office closes at six.", "Our office shuts at 6 pm.", "The office closes at seven."),
    ("Ada's favourite colour is blue.", "Blue is the colour Ada likes best.", "Ada's favourite colour is green."),
    ("Ben is allergic to peanuts.", "Peanuts trigger an allergy in Ben.", "Ben is not allergic to peanuts."),
    ("Ada manages Bob.", "Bob's manager is Ada.", "Bob manages Ada."),
    ("The release is on 14 March 2026.", "We ship on March 14th, 2026.", "The release is on 15 March 2026."),
    ("Backups run every night at two.", "A backup is made nightly at 2 am.", "Backups run every week at two."),
    (
        "The staging server has 16 GB of memory.",
        "Staging runs with 16 GB RAM.",
        "The staging server has 32 GB of memory.",
    ),
    ("We deploy with Ansible.", "Ansible is what we deploy with.", "We deploy with Terraform."),
    ("Clara lives in Lisbon.", "Clara's home is Lisbon.", "Clara lives in Porto."),
    (
        "Invoices go to finance@example.com.",
        "Send invoices to finance@example.com.",
        "Invoices go to sales@example.com.",
    ),
    (
        "The API key rotates every 90 days.",
        "Every 90 days the API key is changed.",
        "The API key rotates every 30 days.",
    ),
    ("Tests must pass before a merge.", "Merging requires green tests.", "Tests need not pass before a merge."),
    ("The customer prefers phone calls.", "The client would rather be called.", "The customer prefers e-mails."),
    ("Dana starts work on Monday.", "Monday is Dana's first day.", "Dana starts work on Tuesday."),
    ("The database is PostgreSQL 18.", "We run PostgreSQL version 18.", "The database is PostgreSQL 16."),
    ("Emil's sister is called Frida.", "Frida is Emil's sister.", "Emil's daughter is called Frida."),
    ("The door code is 4711.", "Enter 4711 to open the door.", "The door code is 4712."),
    ("Grace drinks her coffee black.", "Grace takes coffee without milk.", "Grace drinks her coffee with milk."),
    (
        "The contract ends in December.",
        "December is the last month of the contract.",
        "The contract starts in December.",
    ),
    ("Holidays need two weeks' notice.", "Ask for leave a fortnight ahead.", "Holidays need four weeks' notice."),
    ("The printer is on the second floor.", "You find the printer on floor two.", "The printer is on the third floor."),
    ("Hugo dislikes long meetings.", "Long meetings annoy Hugo.", "Hugo likes long meetings."),
    ("The cat is called Minka.", "Our cat's name is Minka.", "The dog is called Minka."),
    (
        "Login is only possible with two factors.",
        "Two-factor authentication is mandatory.",
        "Login is possible without two factors.",
    ),
    (
        "The train to Bern leaves at 10:15.",
        "At 10:15 the train departs for Bern.",
        "The train to Bern leaves at 10:51.",
    ),
    (
        "Support answers within one day.",
        "You get an answer from support in 24 hours.",
        "Support answers within three days.",
    ),
    ("Ida speaks French and Dutch.", "French and Dutch are Ida's languages.", "Ida speaks French and Danish."),
    (
        "The budget was raised to 40,000 euros.",
        "The budget is now 40,000 euros, up from before.",
        "The budget was cut to 40,000 euros.",
    ),
    ("Logs are kept for 30 days.", "We delete logs after thirty days.", "Logs are kept for 13 days."),
    ("Jonas broke his left arm.", "Jonas has a fracture of the left arm.", "Jonas broke his right arm."),
)

# A statement, and one that replaces it in other words: what an extractor calls an update.
UPDATES: Sequence[Pair] = (
    ("Clara lives in Lisbon.", "Clara moved to Porto last week."),
    ("The office closes at six.", "From May on the office closes at eight in the evening."),
    ("We deploy with Ansible.", "Since March deployments are done with Terraform instead of Ansible."),
    ("The door code is 4711.", "The code for the door has been changed to 9021."),
    ("Ben is allergic to peanuts.", "Ben's peanut allergy is gone, he may eat them again."),
    ("The database is PostgreSQL 16.", "We upgraded to PostgreSQL 18 yesterday."),
    ("Ada manages Bob.", "Bob now reports to Carla."),
    ("The budget is 40,000 euros.", "The budget was cut to 25,000 euros."),
    ("The release is on 14 March 2026.", "The release was postponed to April."),
    ("Dana starts work on Monday.", "Dana will not start before September."),
    ("The customer prefers phone calls.", "The customer asked to be contacted by e-mail only."),
    ("Support answers within one day.", "Support answers within three days now."),
    ("Hugo is vegetarian.", "Hugo eats meat again."),
    (
        "The user works at Acme as a data analyst.",
        "The user left Acme and joined Globex as head of data.",
    ),
    ("Der Vertrag endet im Dezember.", "Der Vertrag wurde bis März verlängert."),
    ("Team meetings are on Tuesdays at ten.", "The team meeting moves to Thursday mornings."),
    ("The preferred programming language of the user is Java.", "The user switched to Kotlin for all new projects."),
    ("Wi-Fi password of the guest network is sunflower.", "The guest Wi-Fi password was changed to tulip42."),
    ("Ida speaks French and Dutch.", "Ida has also learned Danish."),
    ("The staging server has 16 GB of memory.", "Staging was upgraded to 64 GB RAM."),
)

# Long statements that differ in one place.
LONG = (
    "For the quarterly report the figures of the subsidiaries in Graz, Linz and Bern have to be sent to the "
    "controlling department by the {} working day of the month, in the spreadsheet that Kim prepared, with the totals "
    "in euros."
)
LONG_VALUES = ("third", "fourth", "fifth", "3rd", "10th", "last")

REQUESTS = ("{}", "Please forget that {}", "forget: {}", "{} ", "FORGET {}")


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")
    django.setup()
    from memories.embedding.service import get_embedder

    embedder = get_embedder()
    if embedder is None:
        sys.exit("EMBEDDINGS_PROVIDER is none: there is nothing to measure.")
    kinds = [*_own_pairs()]
    if len(sys.argv) > 1:
        kinds += _parallel_pairs(Path(sys.argv[1]))
    texts = sorted({text for _, pairs in kinds for pair in pairs for text in pair})
    vectors = dict(zip(texts, embedder.embed_passages(texts), strict=True))
    spec = embedder.spec
    print(f"{spec.slug}: {len(texts)} texts, cosine between passages\n")
    print("| pairs | n | lowest | 10 % | median | 90 % | 99 % | highest |\n|---|---|---|---|---|---|---|---|")
    for kind, pairs in kinds:
        cosines = np.array([float(vectors[left] @ vectors[right]) for left, right in pairs])
        marks = " | ".join(f"{value:.3f}" for value in np.quantile(cosines, [0, 0.1, 0.5, 0.9, 0.99, 1]))
        print(f"| {kind} | {len(pairs)} | {marks} |")
    print(f"\nforget {spec.forget_threshold}, confirm {spec.confirm_threshold}, ", end="")
    print(f"update {spec.update_threshold}, duplicate {spec.duplicate_threshold}")


def _own_pairs() -> Iterable[tuple[str, Sequence[Pair]]]:
    originals = [original for original, _, _ in STATEMENTS]
    yield "same words, asked for differently", [(form.format(o), o) for o in originals for form in REQUESTS[1:]]
    yield "same words, upper case", [(original.upper(), original) for original in originals]
    yield "paraphrase", [(paraphrase, original) for original, paraphrase, _ in STATEMENTS]
    yield "one thing changed: another statement", [(changed, original) for original, _, changed in STATEMENTS]
    yield "replaced in other words", UPDATES
    yield "unrelated to what replaces another", [(a, d) for (a, _), (_, d) in itertools.permutations(UPDATES, 2)]
    long = [LONG.format(value) for value in LONG_VALUES]
    yield "one thing changed in a long sentence", list(itertools.combinations(long, 2))
    pairs = list(itertools.combinations(originals, 2))
    yield "unrelated short statements", random.Random(1).sample(pairs, 200)


def _parallel_pairs(folder: Path) -> Iterable[tuple[str, Sequence[Pair]]]:
    languages = {path.name.split(".")[1]: _questions(path) for path in sorted(folder.glob("xquad.*.json"))}
    english = languages.pop("en", None)
    if english is None:
        return
    for language, questions in languages.items():
        yield f"same question in English and {language}", list(zip(english, questions, strict=True))
    yield "unrelated questions", list(itertools.pairwise(english))


def _questions(path: Path, step: int = 20) -> list[str]:
    data = json.loads(path.read_text())
    questions = [
        qa["question"] for article in data["data"] for paragraph in article["paragraphs"] for qa in paragraph["qas"]
    ]
    return questions[::step]


if __name__ == "__main__":
    main()
