// Asks XGrammar about texts: node xgrammar_check.cjs PACKAGES < {"grammar": GBNF, "texts": [..]} > [true, ..]
//
// The package calls itself an ES module and is written as a script for `require`, so it is run as one.
const fs = require("fs"), path = require("path"), { createRequire } = require("module");

async function main() {
  const file = path.join(process.argv[2], "node_modules/@mlc-ai/web-xgrammar/lib/index.js");
  const loaded = { exports: {} };
  new Function("module", "exports", "require", "__filename", "__dirname", fs.readFileSync(file, "utf8"))(
    loaded, loaded.exports, createRequire(file), file, path.dirname(file));
  const { Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo } = loaded.exports;
  const { grammar, texts } = JSON.parse(fs.readFileSync(0, "utf8"));
  const end = "</s>", vocabulary = [end, ..."abcdefghijklmnopqrstuvwxyz"];
  const tokens = await TokenizerInfo.createTokenizerInfo(vocabulary, "raw", false, vocabulary.length, [0]);
  const compiler = await GrammarCompiler.createGrammarCompiler(tokens, false);
  const matcher = await GrammarMatcher.createGrammarMatcher(
    await compiler.compileGrammar(await Grammar.fromEBNF(grammar)));
  const out = [];
  for (const text of texts) {
    matcher.reset();
    out.push(matcher._acceptString(text) && matcher.acceptToken(0)); // the end may stand behind it
  }
  fs.writeSync(1, JSON.stringify(out) + "\n");
}

main().then(() => process.exit(0), error => { console.error(error); process.exit(1); });
