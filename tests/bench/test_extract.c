/* Extraction: every case of prose, fences, reasoning, choices and numbers that models are known to write. */
#include "tests/unit/test.h"

#include "bench/grade/extract.h"
#include "bench/grade/numbers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static nst_extract program(const char *text) { return nst_extract_program(text, strlen(text)); }

/* The rule that fires and the text it finds. */
static void finds(const char *completion, nst_step step, const char *text) {
  const nst_extract x = program(completion);
  if (x.step != step) fail_msg("%s: %s, not %s", completion, nst_step_name(x.step), nst_step_name(step));
  if (x.size != strlen(text) || memcmp(x.text, text, x.size) != 0) fail_msg("%s: found \"%.*s\"", completion, (int)x.size, x.text);
}

static void none(const char *completion) { assert_int_equal(program(completion).step, NST_STEP_NONE); }

static void blocks_are_taken_by_one_rule(void **state) {
  (void)state;
  finds("Here it is:\n```nest\na\n```\n", NST_STEP_NEST_FENCE, "a\n");
  finds("```\na\n```\nSome more.", NST_STEP_FENCE, "a\n");
  finds("```nest\ndraft\n```\nBetter:\n```nest\nfinal\n```\n", NST_STEP_NEST_FENCE, "final\n");
  finds("```nest\na\n```\nIts output:\n```text\n42\n```\n", NST_STEP_NEST_FENCE, "a\n");
  finds("```python\na\n```", NST_STEP_FENCE, "a\n");
  finds("```NEST\na\n```", NST_STEP_NEST_FENCE, "a\n");
  finds("``` nest title=x\na\n```", NST_STEP_NEST_FENCE, "a\n");
  finds("```{.nest}\na\n```", NST_STEP_NEST_FENCE, "a\n");
  finds("```nestor\na\n```", NST_STEP_FENCE, "a\n");
  finds("```nest\na\n```\n```nest\n\n```\n", NST_STEP_NEST_FENCE, "a\n"); /* empty ones do not count */
}

static void fences_have_lengths_and_marks(void **state) {
  (void)state;
  finds("````nest\na\n```\nb\n````\n", NST_STEP_NEST_FENCE, "a\n```\nb\n");
  finds("~~~nest\na\n```\n~~~\n", NST_STEP_NEST_FENCE, "a\n```\n");
  finds("```nest\r\na\r\n```\r\n", NST_STEP_NEST_FENCE, "a\r\n");
  finds("1. Answer:\n\n   ```nest\n   a\n   ```\n", NST_STEP_NEST_FENCE, "   a\n");
  finds("```nest\nmapping a { }```\nSo.", NST_STEP_NEST_FENCE, "mapping a { }");
  finds("```nest\nmapping a {\n} ```  \nSo {`x`}", NST_STEP_NEST_FENCE, "mapping a {\n} ");
  finds("```nest\nmapping a { }```\nor\n```nest\nmapping b { }```", NST_STEP_NEST_FENCE, "mapping b { }");
  finds("```nest\n# { }```\na\n```", NST_STEP_NEST_FENCE, "# { }```\na\n");
  finds("```nest\na }``\n```", NST_STEP_NEST_FENCE, "a }``\n");
  none("Use the `keep` item and ```three``` marks.");
  const nst_extract cut = program("```nest\nmapping x of w on h {");
  assert_int_equal(cut.step, NST_STEP_NEST_FENCE);
  assert_true(cut.cut);
  assert_int_equal(cut.line, 2);
  assert_false(program("```nest\na\n```").cut);
}

static void reasoning_is_never_an_answer(void **state) {
  (void)state;
  finds("<think>```nest\nno\n```</think>\n```nest\nyes\n```", NST_STEP_NEST_FENCE, "yes\n");
  finds("so\n</think>\n```nest\nyes\n```", NST_STEP_NEST_FENCE, "yes\n");
  finds("<think>a</think> <think>b</think>```\nyes\n```", NST_STEP_FENCE, "yes\n");
  none("<think>```nest\nno\n```</think>");
  const nst_extract open = program("<think>\n```nest\nno\n```");
  assert_int_equal(open.step, NST_STEP_NONE);
  assert_true(open.unclosed);
  assert_true(program("```nest\nno\n```\n<think>\nhm").unclosed);
  assert_true(program("<think>a</think><think>```nest\nno\n```").unclosed);
  finds("I use <think> tags.\n```nest\nyes\n```", NST_STEP_NEST_FENCE, "yes\n");
  finds("```nest\ntest \"</think>\" of m { expect fits }\n```", NST_STEP_NEST_FENCE, "test \"</think>\" of m { expect fits }\n");
}

static void bare_declarations_are_found(void **state) {
  (void)state;
  finds("Sure:\nmapping m of w on h {\n  for k\n}\nThat is all.", NST_STEP_DECLARATION, "mapping m of w on h {\n  for k\n}");
  finds("const N = 4\nworkload w(M = N) { dim m = M }", NST_STEP_DECLARATION, "const N = 4\nworkload w(M = N) { dim m = M }");
  finds("  model f(a) { out b = a }", NST_STEP_DECLARATION, "  model f(a) { out b = a }");
  finds("Here:\nhardware\nh { memory M compute C }", NST_STEP_DECLARATION, "hardware\nh { memory M compute C }");
  finds("test of m { expect fits }\nEnd.", NST_STEP_DECLARATION, "test of m { expect fits }");
  finds("test \"a\" of m { expect fits }", NST_STEP_DECLARATION, "test \"a\" of m { expect fits }");
  finds("use std.hardware.edge\nmapping m of w on edge { }", NST_STEP_DECLARATION,
        "use std.hardware.edge\nmapping m of w on edge { }");
  none("mapping the loops to the array is easy {}");
  none("use the array {}");
  none("test it {}");
  none("The mapping m of w on h keeps all.");
  none("");
  assert_true(program("mapping m of w on h {\n for k").cut);
}

static void anything_may_be_in_a_completion(void **state) {
  (void)state;
  const char bytes[] = "```nest\na\0b\xff\n```";
  const nst_extract x = nst_extract_program(bytes, sizeof bytes - 1);
  assert_int_equal(x.size, 5);
  /* Long lines of tags, quotes and fences take no longer than they are long. */
  enum { SIZE = 2 << 20 };
  char *text = malloc(SIZE);
  assert_non_null(text);
  static const char *const units[] = {"\"</think>\"", "</think>", "```\n", "~~~", "answer:", "{", "}{", "1,", "x = ", "x=x*", "x = 1 or ", "B. A, C ", "x = (", "{}",
                                       "{\"x\":1,}", "answer: {", "mapping m of ", "<think>", "\""};
  for (size_t k = 0; k < sizeof units / sizeof *units; k++) {
    const size_t n = strlen(units[k]);
    for (size_t i = 0; i < SIZE; i++) text[i] = units[k][i % n];
    (void)nst_extract_program(text, SIZE);
    size_t choice;
    (void)nst_extract_choice(&choice, (const char *const[]){"A", "B"}, 2, text, SIZE);
    nst_figure values[2];
    (void)nst_extract_numbers(values, (const nst_quantity[]){{"x", NST_UNIT_BYTES}, {"y", NST_UNIT_BYTES}}, 2, text, SIZE);
  }
  free(text);
}

static void refusals_are_told_from_silence(void **state) {
  (void)state;
  nst_extract x = program("I'm sorry, but I can't help with that.");
  assert_true(nst_extract_declines(&x));
  x = program("\n I\u2019m unable to do so");
  assert_true(nst_extract_declines(&x));
  x = program("The mapping is not possible.");
  assert_false(nst_extract_declines(&x));
}

/* ---- choices -------------------------------------------------------------- */

static void chooses(const char *completion, const char *expected, nst_step step) {
  static const char *const choices[] = {"A", "B", "C"};
  size_t choice = 3;
  const nst_extract x = nst_extract_choice(&choice, choices, 3, completion, strlen(completion));
  if (x.step != step) fail_msg("%s: %s, not %s", completion, nst_step_name(x.step), nst_step_name(step));
  if (step != NST_STEP_NONE) assert_string_equal(choices[choice], expected);
}

static void choices_are_read(void **state) {
  (void)state;
  chooses("Answer: B", "B", NST_STEP_ANSWER_LINE);
  chooses("answer: A\nWait. Answer: C", "C", NST_STEP_ANSWER_LINE);
  chooses("**Answer:** (B)", "B", NST_STEP_ANSWER_LINE);
  chooses("**Answer**: mapping B.", "B", NST_STEP_ANSWER_LINE);
  chooses("Answer: \\boxed{C}", "C", NST_STEP_ANSWER_LINE);
  chooses("Answer: the option is `A`", "A", NST_STEP_ANSWER_LINE);
  chooses("Answer:\n\nB\n", "B", NST_STEP_ANSWER_LINE);
  chooses("answer: A or B", NULL, NST_STEP_NONE);
  chooses("answer: B, C", NULL, NST_STEP_NONE);
  static const char *const hedges[] = {
    "B (or A)", "B (A)", "B/A", "A or B or C", "A, B, C", "A and B", "A and B are equal", "either A or C", "both A and C", "probably A or B", "B, or A",
    "B; or maybe A", "B, possibly the mapping C", "B [or option A]", "**B** or **A**", "`B` | `A`", "B & C", "B + C", "B A", "B - or A", "B \u2014 or A",
    "\u201cB\u201d or \u201cA\u201d", "B. Or A.", "B = C", "\\boxed{B} or \\boxed{A}", "B and/or A", "B or A depending on K", "(A, C)", "A or C, because they tie",
    "B, alternatively A", "B as well as A", "B but could be A", "B if lucky, otherwise A", "B unless it is A", "B tied with A", "B, equally A", "B plus A",
    "B \u2192 A", "B.A", "B>A", "B > A", "not B", "anything but B", "B followed by A", "B, then A", "B ~ A", "B (close to A)", "B: A", "B; A", "B. A.", "B, A too",
    "B \u2248 A", "B. A as well", "B \u2014 A", "B [A]", "B, if not A", "B. Maybe A is less", "B, A, because they tie", "neither A nor C but B",
    "A is wrong, B", "B versions of A", "B, A plus C", "I would say B or A", "B\u2026A", "B because or A", "B, not sure, A", "B. Actually A is best", "B; A is right",
    "B (tie with A)", "B? A?",
    "B == A"};
  for (size_t i = 0; i < sizeof hedges / sizeof *hedges; i++) {
    char text[128];
    snprintf(text, sizeof text, "answer: %s", hedges[i]);
    chooses(text, NULL, NST_STEP_NONE);
    snprintf(text, sizeof text, "Reasons.\n**Answer:** %s\n", hedges[i]);
    chooses(text, NULL, NST_STEP_NONE);
  }
  static const char *const reasons[] = {"B, because A moves more", "B (A moves more)", "B, not A", "B. A is larger and C too", "B rather than A or C", "B, since A and C move more",
                                        "B. C: 400 bytes, A: 500 bytes", "B, A moves more", "B (not A)", "B; C reads 12 more", "B < C < A", "B, B", "B (mapping B)",
                                        "B \u2014 A moves more", "B (\u043d\u0435 A)", "B is better than A", "B! A has more.", "probably B",
                                        "**B**", "(B)", "`B`.", "the mapping B", "the best mapping is **B**", "Option B", "it is B", "\u201cB\u201d", "B\nor A", "B = B",
                                        "B. Off-chip traffic: A 400, B 300, C 500 bytes", "B: A and C move more", "B. A reads 1.5 times more than C. C is larger.",
                                        "B, as it reads less than A", "B, unlike A", "B over A", "B (A: 400 bytes)", "B, while A spills", "B, whereas C = 12",
                                        "B; A, C, and A are larger", "B compared to A or C", "my answer is B", "B (400 bytes) < A (500 bytes)", "B, which moves less than A",
                                        "B - A and C move more", "B (smallest: 12, then A 14)"};
  for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
    char text[128];
    snprintf(text, sizeof text, "answer: %s", reasons[i]);
    chooses(text, "B", NST_STEP_ANSWER_LINE);
  }
  /* A line that is refused is the answer still; one that names nothing leaves it to an object. */
  chooses("I take B.\nanswer: none", NULL, NST_STEP_NONE);
  chooses("{\"answer\": \"B\"}\nanswer: as above", "B", NST_STEP_JSON);
  chooses("{\"answer\": \"B\"}\nanswer: A or C", NULL, NST_STEP_NONE);
  chooses("{\"answer\": \"not B\"}", NULL, NST_STEP_NONE);
  chooses("{\"answer\": \"mapping B\"}\n{\"note\": \"fine\"}", "B", NST_STEP_JSON);
  chooses("I compared A, B and C. It is B.", "B", NST_STEP_LAST);
  chooses("A: 4\nC: 5\nB: 3", "B", NST_STEP_LAST);
  chooses("It is B or C.", NULL, NST_STEP_NONE);
  chooses("{\"answer\": [\"A\", \"B\"]}", NULL, NST_STEP_NONE);
  chooses("{\"answer\": \"C\"}", "C", NST_STEP_JSON);
  chooses("A mapping moves less. I take B", "B", NST_STEP_LAST);
  chooses("A mapping is what it is.", NULL, NST_STEP_NONE);
  chooses("nothing of this kind", NULL, NST_STEP_NONE);
  chooses("<think>answer: A</think>answer: B", "B", NST_STEP_ANSWER_LINE);
  chooses("<think>answer: A", NULL, NST_STEP_NONE);
}

/* ---- numbers -------------------------------------------------------------- */

static void reads(const char *completion, nst_unit unit, int64_t expected) {
  nst_figure value;
  const nst_quantity q = {"reads", unit};
  const nst_extract x = nst_extract_numbers(&value, &q, 1, completion, strlen(completion));
  if (x.step == NST_STEP_NONE || !nst_figure_equal(value, nst_figure_whole(expected)))
    fail_msg("%s: %s, kind %d, %lld", completion, nst_step_name(x.step), (int)value.kind, (long long)value.whole);
}

static void reads_none(const char *completion, nst_unit unit) {
  nst_figure value;
  const nst_quantity q = {"reads", unit};
  nst_extract_numbers(&value, &q, 1, completion, strlen(completion));
  if (value.kind == NST_FIGURE_WHOLE) fail_msg("%s: %lld", completion, (long long)value.whole);
}

static void numbers_are_read_exactly(void **state) {
  (void)state;
  const nst_unit e = NST_UNIT_ELEMENTS, b = NST_UNIT_BYTES, c = NST_UNIT_CYCLES;
  reads("answer: 4096", e, 4096);
  reads("Answer: 4,096", e, 4096);
  reads("answer: 1,234,567 elements", e, 1234567);
  reads("answer: 1_234_567", e, 1234567);
  reads("answer: 1.2e3", e, 1200);
  reads("answer: 1.5E+3 cycles", c, 1500);
  reads("answer: 4096.0", e, 4096);
  reads("answer: **4096**", e, 4096);
  reads("answer: $4096$", e, 4096);
  reads("answer: 9223372036854775807", e, INT64_MAX);
  reads("answer: -7", e, -7);
  reads("answer: 4 KiB", b, 4096);
  reads("answer: 4KiB", b, 4096);
  reads("answer: 0.5 MiB", b, 524288);
  reads("answer: 4 kB", b, 4000);
  reads("answer: 32 bits", b, 4);
  reads("answer: 100 bytes", b, 100);
  reads("answer: reads = 12", e, 12);
  reads("answer: {\"reads\": 12}", e, 12);
  reads("{\"reads\": \"4 KiB\"}", b, 4096);
  reads("{\"answer\": {\"reads\": 12}}", e, 12);
  reads("```json\n{\"reads\": 1.2e3}\n```", e, 1200);
  reads("Of 512 tiles each is read 8 times, which makes 4096", e, 4096);
  reads("answer: 1\nNo: answer: 2", e, 2);
  reads("answer:\n\n  4096\n", e, 4096);
}

/* More than one number where one is asked for, a number that is part of something, and what is no equal: none, whatever is right before it. */
static void a_hedged_number_is_none(void **state) {
  (void)state;
  static const char *const none[] = {
    "reads = 13, reads = 12", "13 or 12", "1 2 3 12", "between 0 and 12", "reads = 12 or 13", "reads = 12 * 3", "reads = 12/3", "reads = 12 million",
    "reads = 12-22", "reads = 12 - 22", "reads = 12K", "reads = 12x12", "reads = 12%", "reads = not 12", "reads = > 12", "12 or 13", "12 * 3", "12/3", "12 million",
    "12-22", "12K", "12x12", "12%", "not 12", "> 12", "< 12", "~12", "\u2248 12", "about 12", "{\"reads\": \"12 or 13\"}", "{\"reads\": \"952 * 5\"}",
    "{\"reads\": \"952..8568\"}", "{\"reads\": 13} or {\"reads\": 12}", "{\"reads\": 12} or 13", "{\"reads\": 12}, {\"reads\": 13}", "13 = 12", "reads = 13 = 12",
    "12 = 4 * 3", "12 (or 13)", "12 (13)", "12. Or 13", "12; 13", "12, 13", "12 to 13", "12 \u2014 13", "12, or maybe reads is 13", "reads is 13, or 12", "12 +- 1",
    "12 \u00b1 1", "12 thousand", "12 dozen", "12 | 13", "12 and 13", "12\u00d73", "12^2", "12!= 13", "either 12 or 13", "12 because it is 12 or 13", "12..13", "12.5.1",
    "{\"reads\": 12.0000000000000000000000001}", "12.0000000000000000000000001", "{\"reads\": 1e400}", "{\"reads\": \"~12\"}", "{\"reads\": [12, 13]}", "12, maybe_reads = 13 or 14",
    "13, reads = 12", "not reads = 12", "reads = 12 (reads = 13)", "12 times 3", "x = 12 or 13 = 13", "12 \u2192 13", "12 (13?)", "12 as 13", "{\"reads\": 12}; {\"reads\": 13}", "{\"reads\": 12, \"reads\": 13}",
    "{\"reads\": \"12K\"}", "{'reads': 12} or {'reads': 13}", "reads >= 12", "reads != 12", "12? 13?"};
  for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
    char text[160];
    snprintf(text, sizeof text, "It is 12.\nanswer: %s", none[i]);
    reads_none(text, NST_UNIT_ELEMENTS);
  }
  reads_none("reads: 12K", NST_UNIT_ELEMENTS);
  reads_none("{\"reads\": \"12 or 13\"}", NST_UNIT_ELEMENTS);
  reads_none("It is 12.\nanswer: lots", NST_UNIT_ELEMENTS);
  static const char *const good[] = {
    "12", "12.", "12,", "**12**", "`12`", "*12*", "$12$", "\\(12\\)", "12 elements", "12 elements.", "reads = 12 elements", "reads = 4 * 3 = 12", "4 * 3 = 12", "4 \u00d7 3 = 12",
    "4 \\times 3 = 12", "M * K = 4 * 3 = 12", "ceil(M / 4) * (2 + 1) = 12", "(4 * 3) = 12", "reads = **4 * 3 = 12**", "12 (4 * 3)", "12 (4 times 3 elements)", "12 (A is read 3 times)",
    "12 (12)", "12, because each of 4 is read 3 times", "12; each of 4 tiles is read 3 times", "12 - each is read 3 times", "12 \u2014 each of 4 is read 3 times", "12. That is 4 * 3.", "reads is 12",
    "the number of reads is 12", "a total of 12 elements", "12 in total", "reads = 12, other_one = 5", "**reads** = **12**", "`reads`: `12`", "{\"reads\": 12}",
    "{\"reads\": 12}.", "{reads: 12}", "{'reads': 12}", "{\"reads\": 12, }", "`{\"reads\": 12}`", "{\"reads\":\n12}", "\n```json\n{\n  \"reads\": 12\n}\n```\n",
    "{\"reads\": 12} (4 * 3)", "{\"reads\": 12}, as 4 * 3 = 12", "{\"reads\": \"4 * 3 = 12\"}", "{\"reads\": \"12 elements\"}", "{\"reads\": 12.0}", "1.2e1", "reads = 12\n13 or 14",
    "= 12", "12 words", "\\boxed{12}", "reads := 12", "\\text{reads} = 12", "\\(reads = 12\\)", "12 since N > 1", "(12)"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    char text[160];
    snprintf(text, sizeof text, "Not 13.\nanswer: %s", good[i]);
    reads(text, NST_UNIT_ELEMENTS, 12);
  }
  reads("answer: 12 B", NST_UNIT_BYTES, 12);
  reads("answer: 4096 (4 KiB)", NST_UNIT_BYTES, 4096);
  reads("answer: 4 KiB = 4096 B", NST_UNIT_BYTES, 4096);
}

static void what_is_no_whole_number_of_its_unit_has_no_value(void **state) {
  (void)state;
  const nst_unit e = NST_UNIT_ELEMENTS, b = NST_UNIT_BYTES;
  reads_none("answer: 9223372036854775808", e);
  reads_none("answer: 1e30", e);
  reads_none("answer: 1e999999999999", e);
  reads_none("answer: 0.5", e);
  reads_none("answer: 3 bits", b);
  reads_none("answer: 4 KiB", e);
  reads_none("answer: nan", e);
  reads_none("answer: Infinity", e);
  reads_none("answer: lots", e);
  reads_none("answer: 340282366920938463463374607431768211456000000000001", e);
  reads_none("x12 y_13", e);
}

static void several_quantities_go_by_name_or_in_order(void **state) {
  (void)state;
  const nst_quantity q[] = {{"reads_A", NST_UNIT_ELEMENTS}, {"glb", NST_UNIT_BYTES}};
  nst_figure v[2];
  const struct { const char *text; int64_t a, b; } good[] = {
    {"answer: reads_A = 10, glb = 2 KiB", 10, 2048},
    {"answer: glb: 20, reads_A: 10", 10, 20},
    {"answer: 10, 20", 10, 20},
    {"answer: 10 and 20 bytes", 10, 20},
    {"answer: 1,234 and 5,678", 1234, 5678},
    {"answer: 128,256", 128, 256},
    {"answer: {\"reads_A\": 10, \"glb\": 20}", 10, 20},
    {"The result:\n{\"glb\": 20, \"reads_A\": \"10\"}", 10, 20},
    {"answer:\n- reads_A: 10\n- glb: 20\n", 10, 20},
    {"answer:\n* **reads_A** = 10\n* `glb` = 20 B\n", 10, 20},
    {"answer: reads_A = 10, reads_A = 10, glb = 20", 10, 20},
    {"answer: reads\\_A = 10 and glb = 20.", 10, 20},
    {"answer: reads_A = 2 * 5 = 10 (each twice), glb = 20 B", 10, 20},
    {"answer: **reads_A = 10, glb = 20**", 10, 20},
    {"answer: reads_A is 10; glb is 20", 10, 20},
    {"answer: (10, 20)", 10, 20},
  };
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    const nst_extract x = nst_extract_numbers(v, q, 2, good[i].text, strlen(good[i].text));
    if (x.step == NST_STEP_NONE || !nst_figure_equal(v[0], nst_figure_whole(good[i].a)) || !nst_figure_equal(v[1], nst_figure_whole(good[i].b)))
      fail_msg("%s: %s %d %lld %d %lld", good[i].text, nst_step_name(x.step), (int)v[0].kind, (long long)v[0].whole, (int)v[1].kind,
               (long long)v[1].whole);
  }
  static const char *const bad[] = {"answer: reads_A = 10, reads_A = 11, glb = 20", "answer: 1, 2, 3", "answer: 7", "7 8", "answer: 10 or 20",
                                    "answer: reads_A = 10 or 11, glb = 20", "answer: reads_A = 10, glb = 20 or 21", "answer: 10, 20 or 21"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    if (nst_extract_numbers(v, q, 2, bad[i], strlen(bad[i])).step != NST_STEP_NONE) fail_msg("%s is read", bad[i]);
  const char half[] = "answer: reads_A = 10";
  assert_int_equal(nst_extract_numbers(v, q, 2, half, strlen(half)).step, NST_STEP_ANSWER_LINE);
  assert_int_equal(v[1].kind, NST_FIGURE_NONE);
}

/* Of several objects the last counts; one that stands within another is a part of it, whatever stands beside it there. */
static void objects_are_read_whole(void **state) {
  (void)state;
  const nst_quantity q[] = {{"reads_A", NST_UNIT_ELEMENTS}, {"glb", NST_UNIT_BYTES}};
#define NINE(x) x x x x x x x x x
  const struct { const char *text; int64_t a, b; } good[] = {
    {"{\"answer\": {\"reads_A\": 10, \"glb\": 20}, \"units\": {\"reads_A\": \"elements\", \"glb\": \"bytes\"}}", 10, 20},
    {"{\"units\": {\"reads_A\": \"elements\"}, \"answer\": {\"reads_A\": 10, \"glb\": 20}}", 10, 20},
    {"{\"reads_A\": 10, \"glb\": 20, \"why\": {}, \"more\": {}}", 10, 20},
    {"{\"why\": {}, \"more\": {}, \"reads_A\": 10, \"glb\": 20}", 10, 20},
    {"{\"why\": {\"a\": {\"b\": {}, \"c\": {}}, \"d\": {}}, \"reads_A\": 10, \"glb\": 20, \"e\": {\"reads_A\": 1, \"glb\": 2}}", 10, 20},
    {"{\"reads_A\": 10, \"glb\": 20, \"steps\": [{\"reads_A\": 1}, {\"reads_A\": 2}, {}, []]}", 10, 20},
    {"{\"reads_A\": 10, \"glb\": 20, \"steps\": [" NINE(NINE("{},")) "[" NINE(NINE("{\"glb\": {}}, ")) "{}]]}", 10, 20},
    {"{\"reads_A\": 10, \"glb\": 20, \"why\": \"{reads_A} = {}, not }\", \"more\": \"{{ \\\"{\"}", 10, 20},
    {"{\"why\": \"\\\\\", \"more\": {\"a\": \"}\"}, \"reads_A\": 10, \"glb\": 20, \"end\": {\"a\": \"{\"}}", 10, 20},
    {"answer: {\"reads_A\": 10, \"glb\": 20, \"why\": {}, \"more\": {}}", 10, 20},
    {"{\"reads_A\": 1, \"glb\": 2, \"why\": {}, \"more\": {}}\nNo:\n{\"reads_A\": 10, \"glb\": 20, \"why\": {}, \"more\": {}}", 10, 20},
    {"[{\"reads_A\": 1, \"glb\": 2}, {\"reads_A\": 10, \"glb\": 20}]", 10, 20},
    {"{\"reads_A\": 10, \"glb\": 20, \"why\": {}}\nThe set {m, k} and } are all.", 10, 20},
    {"{\"reads_A\": 10, \"glb\": 20}\n{\"note\": \"fine\"} {\"unit\": \"elements\"}", 10, 20},
    {"{\"reads_A\": 10, \"glb\": 20}\nwith {\"other\": 1}", 10, 20},
    {"answer: {\"reads_A\": 10,\n\"glb\": 20}\n{\"note\": \"fine\"}", 10, 20},
    {"answer: {\n\"reads_A\": 10,\n\"glb\": 20,\n}", 10, 20},
    {"{\"reads\\_A\": 10, \"glb\": 20,}", 10, 20},
    {"for (;;) { x } {\"reads_A\": 10, \"glb\": 20, \"why\": {}, \"more\": {}}", 10, 20},
  };
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    nst_figure v[2];
    const nst_extract x = nst_extract_numbers(v, q, 2, good[i].text, strlen(good[i].text));
    if (x.step == NST_STEP_NONE || !nst_figure_equal(v[0], nst_figure_whole(good[i].a)) || !nst_figure_equal(v[1], nst_figure_whole(good[i].b)))
      fail_msg("%s: %s %d %lld %d %lld", good[i].text, nst_step_name(x.step), (int)v[0].kind, (long long)v[0].whole, (int)v[1].kind,
               (long long)v[1].whole);
  }
  /* What is cut within an object is none. */
  static const char *const bad[] = {"{\"reads_A\": 10, \"glb\": 20, \"why\": {\"a\": {}, \"b\": {}}",
                                    "{\"reads_A\": 10, \"glb\": 20, \"why\": \"}",
                                    "{\"reads_A\": 10, \"glb\": 20, \"why\": [{}, {}",
                                    "answer: {\"reads_A\": 1, \"glb\": 2} or {\"reads_A\": 10, \"glb\": 20}",
                                    "answer: {\"reads_A\": 10,\n\"glb\": 20} or {\"reads_A\": 1}"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    nst_figure v[2];
    if (nst_extract_numbers(v, q, 2, bad[i], strlen(bad[i])).step != NST_STEP_NONE) fail_msg("%s is read", bad[i]);
  }
  reads("{\"reads\": 12, \"why\": {\"reads\": 1}, \"units\": {\"reads\": 2}}", NST_UNIT_ELEMENTS, 12);
  reads("{\"answer\": 12, \"why\": {\"answer\": 1}, \"units\": {}}", NST_UNIT_ELEMENTS, 12);
  chooses("{\"answer\": \"B\", \"bytes\": {\"A\": 1}, \"ratios\": {\"C\": 2}}", "B", NST_STEP_JSON);
  chooses("{\"why\": [{\"answer\": \"A\"}, {\"answer\": \"C\"}], \"answer\": \"B\"}", "B", NST_STEP_JSON);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(blocks_are_taken_by_one_rule),
    cmocka_unit_test(fences_have_lengths_and_marks),
    cmocka_unit_test(reasoning_is_never_an_answer),
    cmocka_unit_test(bare_declarations_are_found),
    cmocka_unit_test(anything_may_be_in_a_completion),
    cmocka_unit_test(refusals_are_told_from_silence),
    cmocka_unit_test(choices_are_read),
    cmocka_unit_test(numbers_are_read_exactly),
    cmocka_unit_test(a_hedged_number_is_none),
    cmocka_unit_test(what_is_no_whole_number_of_its_unit_has_no_value),
    cmocka_unit_test(several_quantities_go_by_name_or_in_order),
    cmocka_unit_test(objects_are_read_whole),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
