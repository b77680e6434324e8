import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { dragoman, stage } from '../support/command.ts'

const DOWN = { loop: [{ misbehave: [{ kind: 'status', status: 402 } as const] }] }

/** Two servers: the first one is out of money, the second one answers. */
async function two() {
  const first = await stage([DOWN])
  const second = await stage([{ call: [{ name: 'list_directory', args: { path: '{cwd}' } }] }, { say: 'Answered.' }])
  const env = {
    ...first.env,
    ANTHROPIC_API_KEY: 'k',
    DRAGOMAN_ANTHROPIC_BASE_URL: second.server.url,
  }
  return { first, second, here: { ...first, env } }
}

describe('-m a,b', () => {
  test('the next model goes on with the task, and the log says who answered', async () => {
    const { first, second, here } = await two()
    const { code, out, err } = await dragoman(
      ['-m', 'openai-chat/script,anthropic/script', '-p', 'go', '-o', 'stream-json', '--yolo'],
      here,
    )
    assert.equal(code, 0, err)
    assert.match(out, /Answered\./)
    assert.match(out, /openai-chat\/script: .*(?:Going on|Continuing) with anthropic\/script/)
    assert.equal(first.server.countRequests(), 1, 'who has no money is not asked again')
    assert.equal(second.server.countRequests(), 2)
    const log = await dragoman(['sessions', 'export', 'latest', '--format', 'json'], here)
    assert.deepEqual([...new Set(log.out.match(/"provider": ?"[a-z-]+"/g))], ['"provider": "anthropic"'], log.out)
  })

  test('from the settings; one that cannot be used here is passed over, with a word', async () => {
    const { second, here } = await two()
    const folder = join(here.home, '.config/dragoman')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ fallback: ['mistral/x', 'anthropic/script'] }))
    const { code, out, err } = await dragoman(['-p', 'go', '--yolo'], here)
    assert.equal(code, 0, err)
    assert.match(out, /Answered\./)
    assert.match(err, /mistral\/x is not available: mistral needs a key/)
    assert.equal(second.server.countRequests(), 2)
  })

  test('a key that is missing here does not stop the others; a name that is written wrong does', async () => {
    const { second, here } = await two()
    const passed = await dragoman(['-m', 'mistral/x,anthropic/script', '-p', 'go', '--yolo'], here)
    assert.equal(passed.code, 0, passed.err)
    assert.match(passed.out, /Answered\./)
    assert.match(passed.err, /^mistral\/x is not available: mistral needs a key/)
    assert.equal(second.server.countRequests(), 2)

    const misspelt = await dragoman(['-m', 'mistrall/x,anthropic/script', '-p', 'go'], here)
    assert.equal(misspelt.code, 42)
    assert.match(misspelt.err, /Did you mean mistral\/x\?/)
    const nobody = await dragoman(['-m', 'mistral/x,groq/y', '-p', 'go'], here)
    assert.deepEqual([nobody.code, nobody.err.trim().split('\n').length], [41, 1], nobody.err)
    assert.match(nobody.err, /mistral needs a key/)
  })

  test('who goes on is said, in words', async () => {
    const { here } = await two()
    const { err } = await dragoman(['-m', 'openai-chat/script,anthropic/script', '-p', 'go', '--yolo'], here)
    assert.match(err, /^… The quota of openai-chat is used up: .* Falling back to anthropic\/script\.$/m)
  })
})
