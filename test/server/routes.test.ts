import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { createFolderReader } from '../../src/host/files/folder-reader.ts'
import { isObject } from '../../src/model/json.ts'
import { tool } from '../../src/tool/custom-tool.ts'
import { type ApiAnswer, checks, place, startTestServer, TOKEN, until } from './support.ts'

interface OpenApi {
  readonly openapi: string
  readonly paths: Record<
    string,
    Record<string, { responses: Record<string, { content?: Record<string, { schema?: object }> }> }>
  >
  readonly components: object
}

const ask = tool({
  name: 'deploy',
  description: 'Deploys.',
  parameters: { type: 'object', properties: { where: { type: 'string' } }, required: ['where'] },
  execute: ({ where }) => `Deployed to ${where}.`,
})

/** Checks each answer with the document, and remembers which routes were used. */
function createContractCheck(document: OpenApi) {
  const ajv = new Ajv2020({ strict: false })
  const used = new Set<string>()
  const patterns = Object.keys(document.paths).map((path) => ({
    path,
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
  }))
  return {
    used,
    check(method: string, url: string, { status, text, headers }: ApiAnswer): void {
      const path = url.split('?')[0] ?? ''
      const found = patterns.find(({ pattern }) => pattern.test(path))
      const operation = found && document.paths[found.path]?.[method.toLowerCase()]
      if (status < 400) {
        assert.ok(found && operation, `${method} ${path} is not in the document`)
        used.add(`${method} ${found.path}`)
        assert.ok(operation.responses[status], `${method} ${path} has no response ${status} in the document`)
      }
      const response = operation?.responses[status] ?? operation?.responses['default']
      const type = headers.get('content-type')?.split(';')[0] ?? ''
      if (type === '') return assert.equal(text, '')
      const content = response?.content?.[type]
      if (operation) assert.ok(content, `${method} ${path} ${status} may not be ${type}`)
      const schema = content?.schema ?? (status >= 400 ? { $ref: '#/components/schemas/Error' } : undefined)
      if (!schema || type !== 'application/json') return
      const validate = ajv.compile({ ...schema, components: document.components })
      assert.ok(
        validate(JSON.parse(text)),
        `${method} ${path} ${status}: ${ajv.errorsText(validate.errors)} in ${text}`,
      )
    },
  }
}

test('every route does what the OpenAPI document says', async () => {
  const files = mkdtempSync(join(place, 'files-'))
  writeFileSync(join(files, 'a.txt'), 'A')
  const { api, server, backend, errors } = await startTestServer(
    [
      { say: 'Hello.' },
      { say: 'An image.' },
      { call: [{ name: 'deploy', args: { where: 'here' } }] },
      { say: 'Not deployed.' },
      { call: [{ name: 'deploy', args: { where: 'there' } }] },
      { loop: [{ say: 'Done.' }] },
    ],
    {
      tools: [ask],
      findWorkspaceFiles: (_tenant, session) => (session === 'a' ? createFolderReader(files) : undefined),
      version: '1.2.3',
    },
  )
  const document = JSON.parse((await api('GET', '/openapi.json')).text) as OpenApi
  assert.match(document.openapi, /^3\.1/)
  const contract = createContractCheck(document)
  checks.push((method, path, answer) => contract.check(method, path, answer))
  await api('GET', '/openapi.json')

  assert.equal((await api('GET', '/healthz', undefined, { authorization: '' })).status, 200)
  assert.equal((await api('GET', '/readyz', undefined, { authorization: '' })).status, 200)

  // Sessions
  const created = await api('POST', '/v1/sessions', { id: 'a' })
  assert.deepEqual([created.status, created.headers.get('location')], [201, '/v1/sessions/a'])
  assert.equal((await api('POST', '/v1/sessions', { id: 'a' })).status, 409)
  assert.equal((await api('POST', '/v1/sessions', { id: 'b/c' })).status, 400)
  assert.equal((await api('POST', '/v1/sessions', { agent: 'none' })).status, 400)
  assert.equal((await api('POST', '/v1/sessions', { unknown: 1 })).status, 400)
  assert.equal((await api('POST', '/v1/sessions', '{')).status, 400)
  assert.equal((await api('POST', '/v1/sessions', '{}', { 'content-type': 'text/plain' })).status, 415)
  for (const id of ['b', 'c', 'd']) await api('POST', '/v1/sessions', { id })
  const pages: string[] = []
  let next: string | undefined
  do {
    const page: ApiAnswer = await api('GET', `/v1/sessions?limit=3${next === undefined ? '' : `&before=${next}`}`)
    assert.equal(page.status, 200)
    for (const one of page.json['sessions'] as unknown as { id: string }[]) pages.push(one.id)
    next = page.json['next']
  } while (next !== undefined)
  assert.deepEqual(pages.sort(), ['a', 'b', 'c', 'd'])
  assert.equal((await api('GET', '/v1/sessions?limit=0')).status, 400)
  assert.equal((await api('GET', '/v1/sessions?limit=3&limit=4')).status, 400)
  assert.equal((await api('GET', '/v1/sessions?unknown=1')).status, 400)
  assert.equal((await api('GET', '/v1/sessions?before=x')).status, 400)
  assert.equal((await api('GET', '/v1/sessions/a')).json['state'], 'idle')
  assert.equal((await api('GET', '/v1/sessions/none')).status, 404)
  assert.equal((await api('PUT', '/v1/sessions/a', {})).status, 405)
  assert.equal((await api('GET', '/v2')).status, 404)
  assert.equal((await api('GET', '/v1/sessions/%E0%A4%A')).status, 400)

  // Prompts
  const key = { 'idempotency-key': 'one' }
  const first = await api('POST', '/v1/sessions/a/prompts', { input: 'Hi.' }, key)
  assert.equal(first.status, 202)
  const again = await api('POST', '/v1/sessions/a/prompts', { input: 'Hi.' }, key)
  assert.equal(again.json['message'], first.json['message'])
  const getPrompt = (answer: ApiAnswer) =>
    api('GET', `/v1/sessions/a/prompts/${encodeURIComponent(answer.json['message'] ?? '')}`)
  await until('it ends', async () => (await getPrompt(first)).json['state'] === 'ended')
  const read = await backend.getStore('default').read('a')
  assert.equal(read.entries.filter(({ kind }) => kind === 'user').length, 1, 'the key did not count')
  assert.equal((await api('GET', '/v1/sessions/a/prompts/none')).status, 404)
  assert.equal((await api('POST', '/v1/sessions/a/prompts', { input: '' })).status, 400)
  assert.equal((await api('POST', '/v1/sessions/a/prompts', { input: [] })).status, 400)
  assert.equal((await api('POST', '/v1/sessions/none/prompts', { input: 'x' })).status, 404)
  assert.equal((await api('POST', '/v1/sessions/a/prompts', { input: 'x' }, { 'idempotency-key': 'a b' })).status, 400)
  const image = { kind: 'media', mime: 'image/png', data: Buffer.alloc(4000, 7).toString('base64') }
  const withImage = await api('POST', '/v1/sessions/a/prompts', {
    input: [{ kind: 'text', text: 'See.' }, image],
    steer: true,
  })
  await until('it ends', async () => (await getPrompt(withImage)).json['state'] === 'ended')
  const history = await api('GET', '/v1/sessions/a/history')
  assert.equal((history.json['turns'] as unknown as { role: string }[]).length, 4)

  // Approvals
  const deploy = await api('POST', '/v1/sessions/a/prompts', { input: 'deploy' })
  await until('it waits', async () => (await getPrompt(deploy)).json['state'] === 'waiting')
  assert.equal((await api('GET', '/v1/sessions/a')).json['state'], 'waiting')
  const { approvals } = (await api('GET', '/v1/sessions/a/approvals')).json as unknown as {
    approvals: { id: string }[]
  }
  assert.equal(approvals.length, 1)
  const path = `/v1/sessions/a/approvals/${approvals[0]?.id}`
  assert.equal((await api('POST', path, { approved: 'yes' })).status, 400)
  assert.equal((await api('POST', '/v1/sessions/a/approvals/none', { approved: true })).status, 409)
  assert.equal((await api('POST', path, { approved: false, message: 'not today' })).status, 202)
  assert.equal((await api('POST', path, { approved: true })).status, 409)
  await until('it ends', async () => (await getPrompt(deploy)).json['state'] === 'ended')
  const results = (await backend.getStore('default').read('a')).entries.flatMap((entry) =>
    entry.kind === 'result' ? [entry.result] : [],
  )
  assert.equal(results[0]?.status, 'denied')
  assert.match(JSON.stringify(results[0]?.content), /not today/)

  // Cancel a session that waits: it ends, and so does what waits behind it.
  const second = await api('POST', '/v1/sessions/a/prompts', { input: 'deploy' })
  await until('it waits', async () => (await getPrompt(second)).json['state'] === 'waiting')
  const behind = await api('POST', '/v1/sessions/a/prompts', { input: 'later' })
  assert.equal((await getPrompt(behind)).json['state'], 'queued')
  assert.equal((await api('POST', '/v1/sessions/a/cancel')).status, 202)
  for (const one of [second, behind])
    assert.equal(
      (
        await until(
          'it ends',
          async () => (await getPrompt(one)).json['state'] === 'ended' && (await getPrompt(one)).json,
        )
      )['reason'],
      'cancelled',
    )
  assert.equal((await api('POST', '/v1/sessions/a/resume')).status, 202)

  // Events
  const leave = new AbortController()
  const events = await fetch(`${server.url}/v1/sessions/a/events?after=2`, {
    headers: { authorization: `Bearer ${TOKEN}` },
    signal: leave.signal,
  })
  assert.equal(events.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  const chunk = await events.body?.getReader().read()
  assert.match(Buffer.from(chunk?.value ?? []).toString(), /^id: 3\nevent: entry\ndata: \{"seq":3,/)
  leave.abort()
  contract.used.add('GET /v1/sessions/{session}/events')
  assert.equal((await api('GET', '/v1/sessions/a/events', undefined, { 'last-event-id': 'x' })).status, 400)

  // Files
  const hash = await backend.getStore('default').putBlob(Buffer.from('blob'))
  assert.equal((await api('GET', `/v1/sessions/a/blobs/${hash}`)).text, 'blob')
  assert.equal((await api('GET', '/v1/sessions/a/blobs/none')).status, 404)
  assert.deepEqual((await api('GET', '/v1/sessions/a/files')).json['files'], [
    { name: 'a.txt', type: 'file', bytes: 1 },
  ])
  const content = await api('GET', '/v1/sessions/a/files/content?path=a.txt')
  assert.deepEqual([content.text, content.headers.get('content-disposition')], ['A', 'attachment'])
  assert.equal((await api('GET', '/v1/sessions/a/files?path=none')).status, 404)
  assert.equal((await api('GET', '/v1/sessions/b/files')).status, 404)

  // Schedules
  assert.equal(
    (await api('PUT', '/v1/schedules/nightly', { session: 'a', cron: '0 3 * * *', input: 'Check.' })).status,
    200,
  )
  assert.equal((await api('PUT', '/v1/schedules/bad', { session: 'a', cron: 'often', input: 'x' })).status, 400)
  assert.equal((await api('PUT', '/v1/schedules/bad', { session: 'none', cron: '@daily', input: 'x' })).status, 404)
  assert.equal((await api('GET', '/v1/schedules')).json['schedules']?.['length'], 1)
  assert.equal((await api('DELETE', '/v1/schedules/nightly')).status, 204)
  assert.equal((await api('DELETE', '/v1/schedules/nightly')).status, 404)

  // Forks
  const fork = await api('POST', '/v1/sessions/a/fork', { id: 'f' })
  assert.equal(fork.status, 201)
  assert.equal((await api('DELETE', '/v1/sessions/a')).status, 409)
  const inFork = await api('POST', '/v1/sessions/f/prompts', { input: 'Hi.' })
  await until('it ends', async () => {
    const { json } = await api('GET', `/v1/sessions/f/prompts/${encodeURIComponent(inFork.json['message'] ?? '')}`)
    return json['state'] === 'ended'
  })
  await until('it is closed', async () => (await api('DELETE', '/v1/sessions/f')).status === 204)
  assert.equal((await api('GET', '/v1/sessions/f')).status, 404)

  const metrics = await api('GET', '/metrics')
  assert.match(metrics.text, /dragoman_http_requests_total\{operation="prompt",status="202"\} \d/)
  assert.match(metrics.text, /dragoman_runs_total\{reason="done"\} \d/)

  const all = Object.entries(document.paths).flatMap(([one, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${one}`),
  )
  assert.deepEqual([...contract.used].sort(), all.sort(), 'not every route was tried')
  for (const methods of Object.values(document.paths))
    for (const operation of Object.values(methods)) assert.ok(isObject(operation))
  assert.deepEqual(errors, [])
})
