// npm run real-model -- URL [model]: tries the wires on a real llama.cpp server, which must be running there.
import { runNode } from './lib/run.mjs'

const [url, model] = process.argv.slice(2)
if (!/^https?:\/\//.test(url ?? '')) {
  console.error('Usage: npm run real-model -- http://127.0.0.1:8080 [model]')
  process.exitCode = 42
} else {
  process.env.DRAGOMAN_LLAMA_URL = url.replace(/\/+(?:v1\/*)?$/, '')
  if (model !== undefined) process.env.DRAGOMAN_LLAMA_MODEL = model
  process.exitCode = (await runNode(['scripts/test.mjs', 'real-model'])).ok ? 0 : 1
}
