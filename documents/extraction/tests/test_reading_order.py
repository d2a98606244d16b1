from documents.extraction.pdf import pdf_text
from documents.extraction.tests.pdfs import Line, make_pdf, two_columns


def in_order(text: str, *parts: str) -> bool:
    places = [text.find(part) for part in parts]
    return -1 not in places and places == sorted(places)


def test_two_columns_drawn_row_by_row_are_read_one_after_the_other():
    text = pdf_text(make_pdf(two_columns()))
    assert in_order(text, "left0", "left1", "left11", "right0", "right11")


def test_columns_whose_lines_are_not_level_are_read_one_after_the_other():
    shifted = [(x, y - (5 if x > 300 else 0), text) for x, y, text in two_columns()]
    text = pdf_text(make_pdf(shifted))
    assert in_order(text, "left0", "left11", "right0", "right11")


def test_a_heading_over_both_columns_comes_first_and_a_footer_last():
    page = [
        (180, 760, "A heading that stands over both columns"),
        *two_columns(),
        (180, 400, "A footer that stands below both columns"),
    ]
    text = pdf_text(make_pdf(page))
    assert in_order(text, "A heading", "left0", "left11", "right0", "right11", "A footer")


def test_three_columns_are_read_left_to_right():
    page: list[Line] = []
    for row in range(10):
        page += [(40 + 180 * n, 700 - row * 14, f"{name}{row} words of this column") for n, name in enumerate("abc")]
    text = pdf_text(make_pdf(page))
    assert in_order(text, "a0", "a9", "b0", "b9", "c0", "c9")


def test_a_table_keeps_its_rows_together():
    page: list[Line] = []
    for row in range(10):
        page += [
            (50, 700 - row * 14, f"name{row}"),
            (220, 700 - row * 14, f"{row}00"),
            (400, 700 - row * 14, f"x{row}"),
        ]
    text = pdf_text(make_pdf(page))
    assert in_order(text, "name0", "000", "x0", "name1", "100", "x1", "name9")


def test_a_single_column_is_read_from_top_to_bottom():
    page = [(50, 700 - row * 14, f"line{row} goes on until the right margin of the page is near") for row in range(30)]
    text = pdf_text(make_pdf(page))
    assert in_order(text, *(f"line{row}" for row in range(30)))


def test_pages_follow_each_other():
    text = pdf_text(make_pdf([(50, 700, "first page")], two_columns(), [(50, 700, "third page")]))
    assert in_order(text, "first page", "left0", "right11", "third page")


def test_japanese_is_read():
    text = pdf_text(make_pdf([(50, 700, "東京は日本の首都です")], font="HeiseiMin-W3"))
    assert "東京は日本の首都です" in text
