import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import { type RehearsalServer, startRehearsalServer } from '../../src/rehearsal/server.ts'
import { dragoman, stage } from '../support/command.ts'

type Stage = Awaited<ReturnType<typeof stage>>

const servers: RehearsalServer[] = []
after(async () => {
  for (const server of servers) await server.close()
})

/** A place where a model of each wire is the rehearsal server. */
async function onEveryWire(): Promise<Stage> {
  const here = await stage([])
  const script = { steps: [{ loop: [{ say: 'Done.' }] }] }
  const server = await startRehearsalServer({ scripts: { script }, fallbackScript: 'script' })
  servers.push(server)
  const { url } = server
  const env = {
    ...here.env,
    GEMINI_API_KEY: 'k',
    ANTHROPIC_API_KEY: 'k',
    DRAGOMAN_OPENAI_CHAT_BASE_URL: `${url}/v1`,
    DRAGOMAN_OPENAI_BASE_URL: `${url}/v1`,
    DRAGOMAN_GEMINI_BASE_URL: url,
    DRAGOMAN_ANTHROPIC_BASE_URL: url,
  }
  return { ...here, server, env }
}

function settle(here: Stage, config: JsonObject): void {
  const folder = join(here.home, '.config/dragoman')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config))
}

async function bodyOf(here: Stage, args: readonly string[]): Promise<{ body: JsonObject; err: string }> {
  const { code, err } = await dragoman(['-p', 'go', '--no-session', ...args], here)
  assert.equal(code, 0, err)
  const body = here.server.requests.at(-1)?.body
  assert.ok(body)
  return { body, err }
}

const fields = (body: JsonObject, ...names: string[]) => Object.fromEntries(names.map((name) => [name, body[name]]))

describe('the options of the command', () => {
  const SAMPLING = ['--temperature', '0.5', '--top-p', '0.9', '--max-output-tokens', '5000']

  test('Chat Completions', async () => {
    const here = await onEveryWire()
    const { body } = await bodyOf(here, ['-m', 'openai-chat/script', '--effort', 'high', ...SAMPLING])
    assert.deepEqual(fields(body, 'reasoning_effort', 'temperature', 'top_p', 'max_completion_tokens'), {
      reasoning_effort: 'high',
      temperature: 0.5,
      top_p: 0.9,
      max_completion_tokens: 5000,
    })
    const plain = await bodyOf(here, ['-m', 'openai-chat/script'])
    assert.equal(plain.body['reasoning_effort'], undefined)
    assert.equal(Object.keys(body).at(-1), 'messages', 'the history stays last')
  })

  test('Responses', async () => {
    const here = await onEveryWire()
    const { body } = await bodyOf(here, ['-m', 'openai/script', '--effort=off', ...SAMPLING])
    assert.deepEqual(fields(body, 'reasoning', 'temperature', 'top_p', 'max_output_tokens'), {
      reasoning: { effort: 'none' },
      temperature: 0.5,
      top_p: 0.9,
      max_output_tokens: 5000,
    })
    const refused = await bodyOf(here, ['-m', 'openai/gpt-6-sol', '--temperature', '0.5', '--effort', 'low'])
    assert.deepEqual(fields(refused.body, 'temperature', 'reasoning'), {
      temperature: undefined,
      reasoning: { effort: 'low', summary: 'auto' },
    })
    assert.match(refused.err, /openai\/gpt-6-sol takes no temperature; it is left out\./)
  })

  test('Gemini: levels, budgets, and a number', async () => {
    const here = await onEveryWire()
    const config = async (...args: string[]) => (await bodyOf(here, args)).body['generationConfig']
    assert.deepEqual(await config('-m', 'gemini/gemini-3.8-flash', '--effort', 'low'), {
      thinkingConfig: { thinkingLevel: 'LOW', includeThoughts: true },
    })
    assert.deepEqual(await config('-m', 'gemini/gemini-2.5-pro', '--effort', '3000', ...SAMPLING), {
      maxOutputTokens: 5000,
      temperature: 0.5,
      topP: 0.9,
      thinkingConfig: { thinkingBudget: 3000, includeThoughts: true },
    })
    assert.deepEqual(await config('-m', 'gemini/gemini-3.8-flash'), { thinkingConfig: { includeThoughts: true } })
  })

  test('Anthropic: a model that thinks only if it is asked to is asked', async () => {
    const here = await onEveryWire()
    const thinking = async (...args: string[]) =>
      fields((await bodyOf(here, args)).body, 'thinking', 'output_config', 'temperature')
    const nothing = { thinking: undefined, output_config: undefined, temperature: undefined }
    const sonnet = ['-m', 'anthropic/claude-sonnet-5']
    assert.deepEqual(await thinking(...sonnet), { ...nothing, thinking: { type: 'adaptive' } })
    assert.deepEqual(await thinking(...sonnet, '--effort', 'high'), {
      ...nothing,
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high' },
    })
    assert.deepEqual(await thinking(...sonnet, '--effort', 'off'), nothing)
    assert.deepEqual(await thinking('-m', 'anthropic/claude-sonnet-4-6', '--temperature', '0.3'), {
      ...nothing,
      temperature: 0.3,
    })
    assert.deepEqual(await thinking('-m', 'anthropic/claude-haiku-4-5'), nothing)
  })

  test('a wrong value is one sentence and exit code 42', async () => {
    const here = await onEveryWire()
    const wrong = async (...args: string[]) => {
      const { code, err } = await dragoman(['-p', 'go', ...args], here)
      assert.equal(code, 42)
      return err
    }
    const levels = 'off, minimal, low, medium, high, xhigh or a number of tokens'
    assert.equal(await wrong('--effort', 'hgih'), `dragoman: --effort needs ${levels}, not “hgih”\n`)
    assert.equal(await wrong('--effort=-5'), `dragoman: --effort needs ${levels}, not “-5”\n`)
    assert.equal(await wrong('--temperature', '3'), 'dragoman: --temperature needs a number from 0 to 2, not “3”\n')
    assert.equal(await wrong('--top-p', 'x'), 'dragoman: --top-p needs a number from 0 to 1, not “x”\n')
    assert.match(await wrong('--max-output-tokens', '0'), /needs a whole number above 0, not “0”\n$/)
    assert.match(await wrong('--reasoning-effort', 'high'), /use --effort/)
    assert.equal(here.server.requests.length, 0)
  })
})

describe('the settings of single models', () => {
  test('apply by pattern, a later one before an earlier one, and the options of the command before them', async () => {
    const here = await onEveryWire()
    settle(here, {
      models: {
        'openai-chat/*': { effort: 'low', temperature: 0.1 },
        'openai-chat/scr*': { effort: 'high' },
        'gemini/*': { topP: 0.5 },
      },
    })
    const { body } = await bodyOf(here, ['-m', 'openai-chat/script'])
    assert.deepEqual(fields(body, 'reasoning_effort', 'temperature', 'top_p'), {
      reasoning_effort: 'high',
      temperature: 0.1,
      top_p: undefined,
    })
    const other = await bodyOf(here, ['-m', 'openai-chat/script', '--effort', 'minimal'])
    assert.deepEqual(fields(other.body, 'reasoning_effort', 'temperature'), {
      reasoning_effort: 'minimal',
      temperature: 0.1,
    })
  })

  test('each model of a fallback list has its own', async () => {
    const here = await onEveryWire()
    settle(here, { models: { 'openai-chat/*': { temperature: 0.1 }, 'openai/*': { temperature: 0.9 } } })
    const { env } = await stage([]) // Its server has no model of this name.
    const url = env['DRAGOMAN_OPENAI_CHAT_BASE_URL'] ?? ''
    const broken = { ...here, env: { ...here.env, DRAGOMAN_OPENAI_CHAT_BASE_URL: url } }
    const { body } = await bodyOf(broken, ['-m', 'openai-chat/gone,openai/script'])
    assert.equal(body['temperature'], 0.9)
  })

  test('mistakes are one sentence that names the key, and exit code 52', async () => {
    const here = await onEveryWire()
    const wrong = async (settings: JsonObject) => {
      settle(here, { models: { 'openai/*': settings } })
      const { code, err } = await dragoman(['-p', 'go'], here)
      assert.equal(code, 52, err)
      assert.equal(err.trim().split('\n').length, 1)
      return err
    }
    assert.match(
      await wrong({ efort: 'high' }),
      /"models\.openai\/\*\.efort" is not a known key; did you mean "effort"\?/,
    )
    assert.match(await wrong({ effort: 'hgih' }), /effort/)
    assert.match(await wrong({ temperature: 5 }), /temperature/)
    assert.equal(here.server.requests.length, 0)
  })
})
