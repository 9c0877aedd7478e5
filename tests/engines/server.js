// A server of one language model for tests, in OpenAI's dialect, on llama.cpp (npm's node-llama-cpp).
//
//   node server.js PACKAGES MODEL.gguf [PORT]
//
// PACKAGES is the directory whose node_modules has node-llama-cpp. It listens on 127.0.0.1 only; when it is ready it
// writes the port on a line of its own to standard output (PORT 0, the default: any). One thread computes, requests are
// answered one after the other.
//
//   POST /v1/chat/completions  messages; n, seed, temperature, max_tokens (or max_completion_tokens); the grammar as
//                              `grammar` (llama.cpp) or `structured_outputs: {grammar}` (vLLM). Answers have
//                              finish_reason `stop` or `length`, and usage. Answer i of n has the seed seed + i.
//   GET /v1/models, /health
//
// Mistakes in a request are answered with 400 and {"error": {"message", "type"}}. Of a prompt that is longer than the
// context only the end is read. Nothing is streamed.
const http = require("http"), path = require("path"), { pathToFileURL } = require("url");

const CONTEXT = 4096, MOST_TOKENS = 2048, MOST_BODY = 8 << 20, MOST_CHOICES = 128;

class Mistake extends Error {}

function number(value, name, least, most, otherwise, whole = true) {
  if (value === undefined || value === null) return otherwise;
  if (typeof value !== "number" || !(value >= least && value <= most) || (whole && !Number.isInteger(value)))
    throw new Mistake(`${name} must be ${whole ? "an integer" : "a number"} from ${least} to ${most}`);
  return value;
}

function read(body) {
  let request;
  try {
    request = JSON.parse(body);
  } catch (error) {
    throw new Mistake(`the body is not JSON: ${error.message}`);
  }
  if (!request || !Array.isArray(request.messages) || !request.messages.length)
    throw new Mistake("messages must be a list of messages");
  for (const message of request.messages)
    if (!message || typeof message.role !== "string" || typeof message.content !== "string")
      throw new Mistake("a message has a role and a content, both texts");
  if (request.stream) throw new Mistake("stream is not supported");
  const grammar = request.grammar ?? request.structured_outputs?.grammar;
  if (grammar !== undefined && typeof grammar !== "string") throw new Mistake("grammar must be a text");
  return {
    model: typeof request.model === "string" ? request.model : "noise",
    prompt: request.messages.map(({ role, content }) => `${role}: ${content}\n`).join("") + "assistant: ",
    n: number(request.n, "n", 1, MOST_CHOICES, 1),
    seed: number(request.seed, "seed", 0, 2 ** 32 - 1, 0),
    temperature: number(request.temperature, "temperature", 0, 10, 1, false),
    maxTokens: number(request.max_completion_tokens ?? request.max_tokens, "max_tokens", 1, MOST_TOKENS, 256),
    grammar,
  };
}

async function open(packages, file) {
  const { getLlama, LlamaCompletion, LlamaLogLevel } =
    await import(pathToFileURL(path.resolve(packages, "node_modules/node-llama-cpp/dist/index.js")));
  const llama = await getLlama({ gpu: false, build: "never", skipDownload: true, progressLogs: false, maxThreads: 1,
                                 logLevel: LlamaLogLevel.error });
  const model = await llama.loadModel({ modelPath: path.resolve(file), gpuLayers: 0 });
  const context = await model.createContext({ contextSize: CONTEXT, threads: 1, sequences: 1 });
  const sequence = context.getSequence();
  const completion = new LlamaCompletion({ contextSequence: sequence });
  let last = { text: undefined, grammar: undefined }; // the same one is asked for again and again

  async function compiled(text) {
    if (text === undefined) return undefined;
    if (text === last.text) return last.grammar;
    try {
      last = { text, grammar: await llama.createGrammar({ grammar: text }) };
    } catch (error) {
      throw new Mistake(`the grammar cannot be read: ${error.message}`);
    }
    return last.grammar;
  }

  return async function answer(request) {
    const grammar = await compiled(request.grammar);
    const prompt = model.tokenize(request.prompt).slice(-(CONTEXT - request.maxTokens - 8));
    const choices = [];
    let made = 0;
    for (let index = 0; index < request.n; index++) {
      const { response, metadata } = await completion.generateCompletionWithMeta(prompt, {
        grammar, maxTokens: request.maxTokens, temperature: request.temperature,
        seed: (request.seed + index) % 2 ** 32, onToken: tokens => { made += tokens.length; },
      });
      choices.push({ index, message: { role: "assistant", content: response },
                     finish_reason: metadata.stopReason === "maxTokens" ? "length" : "stop" });
    }
    const usage = { prompt_tokens: prompt.length, completion_tokens: made, total_tokens: prompt.length + made };
    return { object: "chat.completion", model: request.model, choices, usage };
  };
}

function reply(response, status, value) {
  const body = JSON.stringify(value);
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
  response.end(body);
}

function body_of(request) {
  return new Promise((resolve, reject) => {
    const parts = [];
    let size = 0;
    request.on("data", part => {
      size += part.length;
      if (size <= MOST_BODY) parts.push(part);
    });
    request.on("end", () => size > MOST_BODY ? reject(new Mistake(`a body of more than ${MOST_BODY} bytes`))
                                             : resolve(Buffer.concat(parts).toString()));
    request.on("error", reject);
  });
}

async function main() {
  const [packages, file, port = "0"] = process.argv.slice(2);
  if (!file) {
    process.stderr.write("usage: node server.js PACKAGES MODEL.gguf [PORT]\n");
    process.exit(2);
  }
  const answer = await open(packages, file);
  let queue = Promise.resolve(), count = 0;

  const server = http.createServer(async (request, response) => {
    try {
      const { pathname } = new URL(request.url, "http://localhost");
      if (request.method === "GET" && pathname === "/health") return reply(response, 200, { status: "ok" });
      if (request.method === "GET" && pathname === "/v1/models")
        return reply(response, 200, { object: "list", data: [{ id: "noise", object: "model" }] });
      if (request.method !== "POST" || pathname !== "/v1/chat/completions")
        return reply(response, 404, { error: { message: `nothing at ${request.method} ${pathname}`, type: "not_found" } });
      const wanted = read(await body_of(request));
      const turn = queue.then(() => answer(wanted));
      queue = turn.catch(() => {});
      reply(response, 200, { id: `chatcmpl-${++count}`, ...await turn });
    } catch (error) {
      const mistake = error instanceof Mistake;
      if (!mistake) console.error(error);
      const type = mistake ? "invalid_request_error" : "server_error";
      if (!response.headersSent) reply(response, mistake ? 400 : 500, { error: { message: error.message, type } });
    }
  });
  server.listen(Number(port), "127.0.0.1", () => process.stdout.write(`${server.address().port}\n`));
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(0));
}

main().catch(error => { console.error(error); process.exit(1); });
