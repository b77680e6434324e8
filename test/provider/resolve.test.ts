import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buildRequestUrl, buildRequestHeaders } from '../../src/provider/http/url-and-headers.ts'
import { findDefaultModel, findLocalModel, resolveModel } from '../../src/provider/resolve-model.ts'
import { parseProvider } from '../../src/provider/parse-provider.ts'
import { tryFetchJson } from '../../src/provider/http/node-http-client.ts'
import { providers } from '../../src/provider/providers.ts'
import type { Environment, Endpoint } from '../../src/provider/endpoint.ts'

function found(name: string, env: Environment): Endpoint {
  const target = resolveModel(name, env)
  assert.ok('provider' in target, JSON.stringify(target))
  return target
}

function problem(name: string, env: Environment = {}): string {
  const target = resolveModel(name, env)
  assert.ok('problem' in target)
  return `${target.code}: ${target.problem}`
}

describe('names', () => {
  test('the vendor comes before the first slash', () => {
    const target = found('openrouter/google/gemini-2.5-flash', { OPENROUTER_API_KEY: 'k' })
    assert.equal(target.provider.id, 'openrouter')
    assert.equal(target.model, 'google/gemini-2.5-flash')
    assert.equal(target.profile.signer, 'openrouter:gemini-2.5')
  })

  test('a vendor alone means its usual model', () => {
    assert.equal(found('anthropic', { ANTHROPIC_API_KEY: 'k' }).model, 'claude-sonnet-5')
    assert.equal(problem('lmstudio'), '42: Which model of lmstudio? Name it as lmstudio/<model>.')
  })

  test('what is not there gets one clear sentence', () => {
    assert.equal(
      problem('gemni/gemini-2.5-pro'),
      '42: There is no provider “gemni”. Did you mean gemini/gemini-2.5-pro?',
    )
    assert.equal(
      problem('claude-sonnet-5'),
      '42: There is no provider “claude-sonnet-5”. Did you mean anthropic/claude-sonnet-5?',
    )
    assert.match(
      problem('what/ever'),
      /^42: There is no provider “what”\. Name a model as provider\/model, such as gemini\/\S+; dragoman models lists them\.$/,
    )
  })

  test('a key that is missing is a matter of signing in', () => {
    assert.equal(
      problem('gemini/gemini-2.5-pro'),
      '41: gemini needs a key: set GEMINI_API_KEY (or GOOGLE_API_KEY), or sign in with dragoman login gemini.',
    )
    assert.equal(
      problem('groq/x', { GROQ_API_KEY: '  ' }),
      '41: groq needs a key: set GROQ_API_KEY, or sign in with dragoman login groq.',
    )
    assert.equal(
      problem('groq/x', { GROQ_API_KEY: 'ключ' }),
      '41: The key in GROQ_API_KEY contains invalid characters.',
    )
  })

  test('a server on this machine needs none', () => {
    assert.equal(found('ollama/llama3.3', {}).credential, undefined)
    assert.equal(found('openai/x', { OPENAI_BASE_URL: 'http://localhost:8080/v1' }).credential, undefined)
    assert.equal(found('llamacpp/x', { LLAMA_API_KEY: 'k' }).credential?.style, 'bearer')
  })

  test('a token of Google must say who pays', () => {
    assert.equal(
      problem('vertex/gemini-2.5-pro', { GOOGLE_CLOUD_ACCESS_TOKEN: 't' }),
      '42: vertex needs a project for billing: set GOOGLE_CLOUD_PROJECT.',
    )
  })
})

describe('addresses', () => {
  test('variables: ours before the vendor’s', () => {
    const env = { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'https://one.example/v1/' }
    assert.equal(found('openai/x', env).baseUrl, 'https://one.example/v1')
    assert.equal(
      found('openai/x', { ...env, DRAGOMAN_OPENAI_BASE_URL: 'https://two.example' }).baseUrl,
      'https://two.example',
    )
    assert.equal(
      found('gemini-openai/x', { GEMINI_API_KEY: 'k', DRAGOMAN_GEMINI_OPENAI_BASE_URL: 'http://a.example' }).baseUrl,
      'http://a.example',
    )
    assert.equal(
      found('anthropic/x', { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: 'https://a.example' }).baseUrl,
      'https://a.example',
    )
    assert.equal(
      found('gemini/x', { GEMINI_API_KEY: 'k', GOOGLE_GEMINI_BASE_URL: 'https://g.example' }).baseUrl,
      'https://g.example',
    )
    assert.equal(
      problem('openai/x', { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'api.openai.com' }),
      '42: OPENAI_BASE_URL is not an http(s) URL.',
    )
    assert.equal(
      problem('openai/x', { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'https://me:pw@gate.example/v1' }),
      '42: OPENAI_BASE_URL contains a password, which would not be sent: remove it.',
    )
  })

  const address = (name: string, url: string): string =>
    buildRequestUrl(
      found(name, {
        [`DRAGOMAN_${name.split('/')[0]?.toUpperCase()}_BASE_URL`]: url,
        ANTHROPIC_API_KEY: 'k',
        OPENAI_API_KEY: 'k',
        GEMINI_API_KEY: 'k',
      }),
      true,
    ).href

  test('with and without the version, or the whole address', () => {
    const whole = 'https://a.example/v1/messages'
    for (const base of ['https://a.example', 'https://a.example/', 'https://a.example/v1', whole])
      assert.equal(address('anthropic/x', base), whole)
    assert.equal(address('openai/x', 'https://a.example/v1/responses'), 'https://a.example/v1/responses')
    assert.equal(
      address('gemini/g', 'https://a.example/v1beta?x=1'),
      'https://a.example/v1beta/models/g:streamGenerateContent?x=1&alt=sse',
    )
    assert.equal(
      address('gemini/tunedModels/my model', 'https://a.example'),
      'https://a.example/v1beta/tunedModels/my%20model:streamGenerateContent?alt=sse',
    )
  })

  test('vertex has a name for each place, and one for the whole world', () => {
    const env = { GOOGLE_API_KEY: 'k' }
    assert.equal(found('vertex/x', env).baseUrl, 'https://aiplatform.googleapis.com')
    assert.equal(
      found('vertex/x', { ...env, GOOGLE_CLOUD_LOCATION: 'europe-west1' }).baseUrl,
      'https://europe-west1-aiplatform.googleapis.com',
    )
  })

  test('a bearer token of Anthropic', async () => {
    const { headers } = await buildRequestHeaders(found('anthropic/x', { ANTHROPIC_AUTH_TOKEN: 'tok' }), true)
    assert.equal(headers['authorization'], 'Bearer tok')
    assert.equal(headers['x-api-key'], undefined)
    assert.equal(headers['anthropic-version'], '2023-06-01')
  })
})

describe('an address that contains variables', () => {
  const address = (name: string, env: Record<string, string>) => {
    const resolved = resolveModel(name, env)
    return 'problem' in resolved ? resolved.problem : resolved.baseUrl
  }

  test('the region of Bedrock', () => {
    const key = { AWS_BEARER_TOKEN_BEDROCK: 'k' }
    const url = 'https://bedrock-mantle.eu-west-1.api.aws/v1'
    assert.equal(address('bedrock', { ...key, AWS_REGION: 'eu-west-1', AWS_DEFAULT_REGION: 'us-east-1' }), url)
    assert.equal(address('amazon-bedrock/x', { ...key, AWS_DEFAULT_REGION: 'eu-west-1' }), url)
    const missing = resolveModel('bedrock', key)
    assert.ok('problem' in missing && missing.code === 42)
    assert.equal(
      missing.problem,
      'The address of bedrock contains AWS_REGION: set it (or AWS_DEFAULT_REGION), or set DRAGOMAN_BEDROCK_BASE_URL.',
    )
    assert.equal(address('bedrock', { ...key, AWS_BEDROCK_BASE_URL: 'https://b.example/v1/' }), 'https://b.example/v1')
    assert.equal(address('bedrock', { ...key, AWS_REGION: 'x/y@z' }).includes('@'), false)
  })

  test('the resource of Azure, by its name, its address, or the whole URL', () => {
    const key = { AZURE_OPENAI_API_KEY: 'k' }
    const url = 'https://lab.openai.azure.com/openai/v1'
    for (const env of [
      { AZURE_OPENAI_RESOURCE: 'lab' },
      { AZURE_RESOURCE_NAME: 'lab' },
      { AZURE_OPENAI_ENDPOINT: 'https://lab.openai.azure.com/' },
      { AZURE_OPENAI_ENDPOINT: `${url}/` },
      { AZURE_OPENAI_BASE_URL: url },
    ])
      for (const name of ['azure/mine', 'azure-chat/mine']) assert.equal(address(name, { ...key, ...env }), url)
    assert.match(
      address('azure/mine', { ...key, AZURE_OPENAI_ENDPOINT: 'lab' }),
      /AZURE_OPENAI_ENDPOINT is not an http/,
    )
  })

  test('accounts and gateways', () => {
    assert.equal(
      address('snowflake', { SNOWFLAKE_PAT: 'k', SNOWFLAKE_ACCOUNT: 'org-lab' }),
      'https://org-lab.snowflakecomputing.com/api/v2/cortex/v1',
    )
    const cloudflare = { CLOUDFLARE_ACCOUNT_ID: 'a', CLOUDFLARE_GATEWAY_ID: 'g', CF_AIG_TOKEN: 'k' }
    assert.equal(address('cloudflare-gateway', cloudflare), 'https://gateway.ai.cloudflare.com/v1/a/g/compat')
  })

  test('in the settings', () => {
    const row = parseProvider('lab', { url: 'https://{LAB_REGION}.lab.example/v1', keys: ['LAB_KEY'], model: 'm' })
    assert.ok('provider' in row)
    const resolved = resolveModel('lab', { LAB_REGION: 'north', LAB_KEY: 'k' }, [row.provider])
    assert.equal('problem' in resolved ? resolved.problem : resolved.baseUrl, 'https://north.lab.example/v1')
  })
})

test('the names of providers in other programs', () => {
  const ids = new Set(providers.map(({ id }) => id))
  const aliases = providers.flatMap(({ labels }) => labels?.aliases ?? [])
  assert.equal(new Set(aliases).size, aliases.length)
  assert.deepEqual(
    aliases.filter((alias) => ids.has(alias)),
    [],
  )
  for (const [alias, id] of [
    ['lm-studio', 'lmstudio'],
    ['google', 'gemini'],
    ['Claude', 'anthropic'],
    ['hf', 'huggingface'],
  ] as const) {
    const resolved = resolveModel(`${alias}/m`, { GEMINI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', HF_TOKEN: 'k' })
    assert.equal('problem' in resolved ? resolved.problem : resolved.provider.id, id)
  }
})

describe('when no model is named', () => {
  test('the first key, in the order of the table', () => {
    assert.equal(findDefaultModel({}), undefined)
    assert.equal(findDefaultModel({ OPENAI_API_KEY: 'k', GEMINI_API_KEY: 'k' }), 'gemini/gemini-3.8-flash')
    assert.equal(findDefaultModel({ OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' }), 'anthropic/claude-sonnet-5')
    assert.equal(findDefaultModel({ OPENAI_API_KEY: 'k', XAI_API_KEY: 'k' }), 'openai/gpt-6-sol')
    assert.equal(
      findDefaultModel({ GOOGLE_API_KEY: 'k', GOOGLE_GENAI_USE_VERTEXAI: 'true' }),
      'vertex/gemini-3.8-flash',
    )
    for (const { id, keys, port, model, labels } of providers) {
      if (port !== undefined) continue
      assert.ok(model, id)
      // A variable that is set for other programs does not choose a provider.
      const isChosen = findDefaultModel({ [keys[0] ?? '']: 'k' }) !== undefined
      assert.equal(isChosen, labels?.isSharedKey !== true, id)
    }
  })

  test('a server on this machine that has a model', async () => {
    const asked: string[] = []
    const answer = (url: string): unknown =>
      url.includes(':11434/')
        ? { data: [{ id: 'nomic-embed-text' }, { id: 'llama3.3' }] }
        : url.includes(':8080/')
          ? { hello: 1 }
          : undefined
    const name = await findLocalModel((url) => {
      asked.push(url)
      return url.includes(':8000/') ? Promise.reject(new Error('no')) : Promise.resolve(answer(url))
    })
    assert.equal(name, 'ollama/llama3.3')
    assert.deepEqual(
      asked,
      [1234, 11434, 8080, 8000, 4000].map((port) => `http://127.0.0.1:${port}/v1/models`),
    )
    assert.equal(await findLocalModel(() => Promise.resolve(undefined)), undefined)
  })

  test('DRAGOMAN_LOCAL_SERVERS=off leaves the usual ports alone, not an address that the person set', async () => {
    const asked: string[] = []
    const look = (env: Record<string, string>) =>
      findLocalModel(
        (url) => {
          asked.push(url)
          return Promise.resolve({ data: [{ id: 'm' }] })
        },
        undefined,
        env,
      )
    assert.equal(await look({ DRAGOMAN_LOCAL_SERVERS: 'off' }), undefined)
    assert.equal(asked.length, 0)
    const set = { DRAGOMAN_VLLM_BASE_URL: 'http://127.0.0.1:5/v1' }
    assert.equal(await look({ DRAGOMAN_LOCAL_SERVERS: 'off', ...set }), 'vllm/m')
    assert.deepEqual(asked.splice(0), ['http://127.0.0.1:5/v1/models'])
    assert.equal(await look(set), 'lmstudio/m')
    assert.equal(asked.length, 5)
    assert.ok(asked.includes('http://127.0.0.1:5/v1/models'))
  })

  test('the probe gives up soon', async (t) => {
    const server = createServer((request, response) => {
      if (request.url === '/models') response.end('{"data":[]}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.after(() => {
      server.closeAllConnections()
      server.close()
    })
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    assert.deepEqual(await tryFetchJson(`${url}/models`, 60_000), { data: [] })
    assert.equal(await tryFetchJson(`${url}/never`, 50), undefined) // It never answers.
    assert.equal(await tryFetchJson('http://127.0.0.1:9/', 500), undefined)
  })
})

describe('rows of one’s own', () => {
  const wrong = (json: unknown): string => {
    const result = parseProvider('lab', json)
    return 'problem' in result ? result.problem : 'none'
  }

  test('one that is right', () => {
    const result = parseProvider('lab', {
      wire: 'anthropic',
      url: 'https://lab.example',
      keys: ['LAB_KEY'],
      headers: { 'X-Team': 'a' },
      profile: { think: true, refuses: ['temperature'] },
    })
    assert.deepEqual(result, {
      provider: {
        id: 'lab',
        wire: 'anthropic',
        url: 'https://lab.example',
        auth: 'anthropic',
        keys: ['LAB_KEY'],
        headers: { 'x-team': 'a' },
        profile: { think: true, refuses: ['temperature'] },
      },
    })
    const again = parseProvider('lab', { wire: 'anthropic', url: 'https://lab.example', keys: ['LAB_KEY'] })
    assert.ok('provider' in again)
    const target = resolveModel('lab/x', { LAB_KEY: 'k' }, [...providers, again.provider])
    assert.ok('provider' in target && target.wire === 'anthropic')
    const open = parseProvider('lab', { url: 'http://10.0.0.7:8000/v1' })
    assert.ok('provider' in open && open.provider.auth === 'none' && open.provider.wire === 'openai-chat')
  })

  test('one that only says what is different about a row of the table', () => {
    const base = providers.find(({ id }) => id === 'openrouter')
    assert.ok(base)
    const changed = parseProvider('openrouter', { url: 'https://gate.example/v1', headers: { 'X-Team': 'a' } }, base)
    assert.deepEqual(changed, {
      provider: { ...base, url: 'https://gate.example/v1', headers: { 'x-title': 'Dragoman', 'x-team': 'a' } },
    })
    assert.deepEqual(parseProvider('openrouter', {}, base), { provider: base })
    const flags = parseProvider('openrouter', { profile: { cache: 'none' } }, base)
    assert.ok('provider' in flags)
    assert.deepEqual(flags.provider.profile, { maxTokensField: 'max_tokens', cache: 'none' })
    const moved = parseProvider('openrouter', { url: 'https://gate.example', wire: 'anthropic' }, base)
    assert.deepEqual(moved, {
      provider: {
        id: 'openrouter',
        wire: 'anthropic',
        url: 'https://gate.example',
        auth: 'anthropic',
        keys: ['OPENROUTER_API_KEY'],
      },
    })
  })

  test('every field of a row can be written', () => {
    const whole = {
      wire: 'gemini',
      url: 'https://{location}-lab.example',
      auth: 'google',
      keys: ['LAB_KEY'],
      tokens: ['LAB_TOKEN'],
      urls: ['LAB_URL'],
      signIn: 'google',
      path: 'vertex',
      check: '/key',
      port: 8000,
      model: 'm',
      headers: { a: 'b' },
      extra: { c: 1 },
      profile: { window: 1000 },
    }
    assert.deepEqual(parseProvider('lab', whole), { provider: { id: 'lab', ...whole } })
  })

  test('what is wrong with the others', () => {
    assert.equal(wrong([]), 'The provider "lab" must be an object.')
    assert.equal(wrong({}), 'The provider "lab" needs a "url".')
    assert.equal(wrong({ url: 'lab.example' }), 'The provider "lab" needs an http(s) URL in "url".')
    assert.equal(
      wrong({ url: 'http://me:pw@a' }),
      'The provider "lab" must have no password in "url"; it would not be sent.',
    )
    assert.equal(wrong({ modle: 'x' }), 'The provider "lab" has the unknown key "modle"; did you mean "model"?')
    assert.match(wrong({ url: 'http://a', wire: 'soap' }), /has an unknown wire; the known ones are "gemini", /)
    assert.equal(
      wrong({ url: 'http://a', profile: { thinkk: true } }),
      'The provider "lab" has the unknown flag "thinkk"; did you mean "think"?',
    )
    assert.equal(
      wrong({ url: 'http://a', profile: { ids: 'ten' } }),
      'The provider "lab" needs one of "any", "nine", "functions" for the flag "ids".',
    )
    assert.equal(
      wrong({ url: 'http://a', keys: 'LAB' }),
      'The provider "lab" needs a list of environment variables in "keys".',
    )
    assert.equal(
      wrong({ url: 'http://a', port: 70000 }),
      'The provider "lab" needs a port number from 1 to 65535 in "port".',
    )
    assert.equal(
      wrong({ url: 'http://a', headers: { a: 'b\nc' } }),
      'The provider "lab" needs an object of strings in "headers".',
    )
    assert.equal(
      wrong({ url: 'http://a', path: 'x' }),
      'The provider "lab" has an unknown "path"; the known one is "vertex".',
    )
    assert.equal(
      wrong({ url: 'http://a', signIn: 1 }),
      'The provider "lab" has an unknown "signIn"; the known one is "google".',
    )
    assert.equal(wrong({ url: 'http://a', model: '' }), 'The provider "lab" needs a string in "model".')
    assert.ok('problem' in parseProvider('My Lab', { url: 'http://a' }))
  })
})
