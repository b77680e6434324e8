import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { request } from 'node:http'
import { createFolderReader } from '../../src/host/files/folder-reader.ts'
import { type TenantConfig, hashToken } from '../../src/server/http/tenants.ts'
import { callApi, place, startTestServer, tenant, until } from './support.ts'

/** One attempt, and what must come of it. */
interface Attempt {
  readonly what: string
  readonly run: () => Promise<{ readonly status: number; readonly text: string }>
  /** A success that shows nothing of the other tenant is fine. */
  readonly allowed?: readonly number[]
}

const SECRET = 'the-secret-of-acme'

test('a hostile tenant: 40 attempts to see or touch what is of another, or to exceed limits, all fail', async () => {
  const files = mkdtempSync(join(place, 'workspaces-'))
  for (const name of ['acme', 'evil']) mkdirSync(join(files, name, 's'), { recursive: true })
  writeFileSync(join(files, 'acme/s/secret.txt'), SECRET)
  writeFileSync(join(files, 'evil/s/own.txt'), 'own')
  symlinkSync(join(files, 'acme/s'), join(files, 'evil/s/link'))
  symlinkSync(join(files, 'acme/s/secret.txt'), join(files, 'evil/s/link.txt'))
  symlinkSync('/etc', join(files, 'evil/s/etc'))
  const limited: Partial<TenantConfig> = {
    tokens: [
      { hash: hashToken('evil-token'), scopes: ['read', 'prompt', 'approve'] },
      { hash: hashToken('evil-reader'), scopes: ['read'] },
    ],
    limits: { sessions: 3, schedules: 1, promptsPerMinute: 5, streams: 1, concurrency: 1 },
    git: ['https://git.example/evil'],
  }
  const { server, backend, errors } = await startTestServer(
    { start: 'prompt', steps: [{ say: SECRET }] },
    {
      tenants: { ...tenant('acme'), ...tenant('evil', limited) },
      findWorkspaceFiles: (name, session) =>
        session === 's' ? createFolderReader(join(files, name, session)) : undefined,
      maxBodyBytes: 100_000,
    },
  )
  const { url } = server
  const as =
    (token: string) =>
    (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      callApi(url, method, path, body, { authorization: `Bearer ${token}`, ...headers })
  const [acme, evil, reader] = [as('acme-token'), as('evil-token'), as('evil-reader')]

  assert.equal((await acme('POST', '/v1/sessions', { id: 'private' })).status, 201)
  assert.equal((await acme('POST', '/v1/sessions', { id: 's' })).status, 201)
  const prompt = await acme('POST', '/v1/sessions/private/prompts', { input: SECRET }, { 'idempotency-key': 'k' })
  await until('acme is done', async () => (await acme('GET', '/v1/sessions/private')).json['state'] === 'idle')
  await acme('PUT', '/v1/schedules/daily', { session: 'private', cron: '0 0 * * *', input: SECRET })
  const blob = await backend.getStore('acme').putBlob(Buffer.from(SECRET))
  assert.equal((await evil('POST', '/v1/sessions', { id: 's' })).status, 201)
  const before = JSON.stringify(await backend.getStore('acme').read('private'))
  const inTime = (response: Response) => response.text()
  const message = encodeURIComponent(prompt.json['message'] ?? '')

  /** A request as no client would send it. */
  const raw = (
    method: string,
    path: string,
    headers: Record<string, string>,
  ): Promise<{ status: number; text: string }> =>
    new Promise((resolve, reject) => {
      const sent = request(url, { method, path, headers, agent: false }, (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString()))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      })
      sent.on('error', reject)
      sent.end()
    })

  const own = { authorization: 'Bearer evil-token' }
  const attempts: readonly Attempt[] = [
    { what: 'read a session', run: () => evil('GET', '/v1/sessions/private') },
    { what: 'read a history', run: () => evil('GET', '/v1/sessions/private/history') },
    { what: 'read events', run: () => evil('GET', '/v1/sessions/private/events') },
    { what: 'read a prompt', run: () => evil('GET', `/v1/sessions/private/prompts/${message}`) },
    { what: 'read a prompt in an own session', run: () => evil('GET', `/v1/sessions/s/prompts/${message}`) },
    { what: 'read approvals', run: () => evil('GET', '/v1/sessions/private/approvals') },
    { what: 'list sessions', run: () => evil('GET', '/v1/sessions'), allowed: [200] },
    { what: 'list with a cursor', run: () => evil('GET', '/v1/sessions?before=9999999999999.private'), allowed: [200] },
    { what: 'remove a session', run: () => evil('DELETE', '/v1/sessions/private') },
    { what: 'fork a session', run: () => evil('POST', '/v1/sessions/private/fork', { id: 'stolen' }) },
    { what: 'prompt a session', run: () => evil('POST', '/v1/sessions/private/prompts', { input: 'x' }) },
    { what: 'cancel a session', run: () => evil('POST', '/v1/sessions/private/cancel') },
    { what: 'resume a session', run: () => evil('POST', '/v1/sessions/private/resume') },
    { what: 'answer a question', run: () => evil('POST', '/v1/sessions/private/approvals/x', { approved: true }) },
    {
      what: 'schedule in a session',
      run: () => evil('PUT', '/v1/schedules/x', { session: 'private', cron: '* * * * *', input: 'x' }),
    },
    { what: 'list schedules', run: () => evil('GET', '/v1/schedules'), allowed: [200] },
    { what: 'remove a schedule', run: () => evil('DELETE', '/v1/schedules/daily') },
    { what: 'remove a schedule by its key', run: () => evil('DELETE', '/v1/schedules/..%2Facme%2Fdaily') },
    {
      what: 'write a schedule by its key',
      run: () => evil('PUT', '/v1/schedules/..%2Facme%2Fdaily', { session: 's', cron: '* * * * *', input: 'x' }),
    },
    { what: 'read a blob', run: () => evil('GET', `/v1/sessions/s/blobs/${blob}`) },
    {
      what: 'read a blob by a path',
      run: () => evil('GET', `/v1/sessions/s/blobs/..%2F..%2F..%2Facme%2Fsessions%2Fblobs%2F${blob}`),
    },
    { what: 'read files', run: () => evil('GET', '/v1/sessions/private/files') },
    {
      what: 'leave the workspace',
      run: () => evil('GET', '/v1/sessions/s/files/content?path=../../acme/s/secret.txt'),
    },
    { what: 'list above the workspace', run: () => evil('GET', '/v1/sessions/s/files?path=..') },
    {
      what: 'read an absolute path',
      run: () => evil('GET', `/v1/sessions/s/files/content?path=${join(files, 'acme/s/secret.txt')}`),
    },
    { what: 'follow a link to a file', run: () => evil('GET', '/v1/sessions/s/files/content?path=link.txt') },
    { what: 'follow a link to a folder', run: () => evil('GET', '/v1/sessions/s/files/content?path=link/secret.txt') },
    { what: 'list a linked folder', run: () => evil('GET', '/v1/sessions/s/files?path=link') },
    { what: 'read the system', run: () => evil('GET', '/v1/sessions/s/files/content?path=etc/passwd') },
    { what: 'a path with a null', run: () => evil('GET', '/v1/sessions/s/files/content?path=own.txt%00') },
    { what: 'a session id that is a path', run: () => evil('GET', '/v1/sessions/..%2F..%2Facme%2Fsessions%2Fprivate') },
    {
      what: 'create a session that is a path',
      run: () => evil('POST', '/v1/sessions', { id: '../../acme/sessions/x' }),
    },
    { what: 'another model', run: () => evil('POST', '/v1/sessions', { model: 'anthropic/claude-opus-5' }) },
    { what: 'the label of another machine', run: () => evil('POST', '/v1/sessions', { label: 'acme' }) },
    {
      what: 'a repository of another',
      run: () => evil('POST', '/v1/sessions', { workspace: { git: 'https://git.example/evilacme' } }),
    },
    {
      what: 'a repository by a detour',
      run: () => evil('POST', '/v1/sessions', { workspace: { git: 'https://git.example/evil/../acme' } }),
    },
    {
      what: 'a repository on this machine',
      run: () => evil('POST', '/v1/sessions', { workspace: { git: `file://${files}` } }),
    },
    {
      what: 'an option as a repository',
      run: () => evil('POST', '/v1/sessions', { workspace: { git: '--upload-pack=touch x' } }),
    },
    { what: 'metrics of all', run: () => evil('GET', '/metrics') },
    {
      what: 'prompt with a token that only reads',
      run: () => reader('POST', '/v1/sessions/s/prompts', { input: 'x' }),
    },
    {
      what: 'approve with a token that only reads',
      run: () => reader('POST', '/v1/sessions/s/approvals/x', { approved: true }),
    },
    { what: 'no token', run: () => callApi(url, 'GET', '/v1/sessions', undefined, { authorization: '' }) },
    { what: 'a wrong token', run: () => as('acme-toke')('GET', '/v1/sessions/private') },
    { what: 'the hash as the token', run: () => as(hashToken('acme-token'))('GET', '/v1/sessions/private') },
    {
      what: 'a tenant in a header',
      run: () => evil('GET', '/v1/sessions/private', undefined, { 'x-tenant': 'acme', tenant: 'acme' }),
    },
    { what: 'a tenant in the query', run: () => evil('GET', '/v1/sessions/private?tenant=acme') },
    { what: 'another host name', run: () => raw('GET', '/v1/sessions', { ...own, host: 'rebound.example' }) },
    { what: 'a web page', run: () => raw('GET', '/v1/sessions', { ...own, origin: 'https://evil.example' }) },
    {
      what: 'a body that is too long',
      run: () => evil('POST', '/v1/sessions/s/prompts', { input: 'x'.repeat(200_000) }),
    },
    {
      what: 'native data in a prompt',
      run: () => evil('POST', '/v1/sessions/s/prompts', { input: [{ kind: 'text', text: 'x', native: {} }] }),
    },
    {
      what: 'media from a URL',
      run: () =>
        evil('POST', '/v1/sessions/s/prompts', {
          input: [{ kind: 'media', mime: 'image/png', uri: 'http://127.0.0.1/' }],
        }),
    },
  ]
  assert.ok(attempts.length >= 40, String(attempts.length))
  for (const { what, run, allowed = [] } of attempts) {
    const { status, text } = await run()
    assert.ok(allowed.includes(status) || (status >= 400 && status < 500), `${what}: ${status} ${text}`)
    assert.ok(!text.includes(SECRET) && !text.includes('"private"') && !text.includes('"daily"'), `${what}: ${text}`)
  }

  // Limits, also with requests at the same time.
  const created = await Promise.all(Array.from({ length: 12 }, () => evil('POST', '/v1/sessions', {})))
  assert.equal(created.filter(({ status }) => status === 201).length, 2, 'more sessions than the limit')
  assert.equal((await evil('POST', '/v1/sessions/s/fork', {})).status, 429, 'a fork beyond the limit')
  const schedules = await Promise.all(
    ['a', 'b', 'c'].map((name) => evil('PUT', `/v1/schedules/${name}`, { session: 's', cron: '@daily', input: 'x' })),
  )
  assert.equal(schedules.filter(({ status }) => status === 200).length, 1, 'more schedules than the limit')
  const prompts = await Promise.all(
    Array.from({ length: 12 }, () => evil('POST', '/v1/sessions/s/prompts', { input: 'x' })),
  )
  assert.ok(prompts.filter(({ status }) => status === 202).length <= 5, 'more prompts than the limit')
  assert.match(prompts.find(({ status }) => status === 429)?.headers.get('retry-after') ?? '', /^\d+$/)
  const leave = new AbortController()
  const streams = await Promise.all(
    Array.from({ length: 4 }, () => fetch(`${url}/v1/sessions/s/events`, { headers: own, signal: leave.signal })),
  )
  assert.equal(streams.filter(({ status }) => status === 200).length, 1, 'more streams than the limit')
  await Promise.all(streams.filter(({ status }) => status !== 200).map(inTime))
  leave.abort()

  // Nothing of the other tenant has changed.
  assert.equal(JSON.stringify(await backend.getStore('acme').read('private')), before)
  assert.equal((await acme('GET', '/v1/schedules')).json['schedules']?.['length'], 1)
  assert.equal((await acme('GET', '/v1/sessions/s/files/content?path=secret.txt')).text, SECRET)
  assert.deepEqual(errors, [])
})

test('a quota in dollars: a request that may exceed it is not sent', async () => {
  const { server, backend, model } = await startTestServer(
    { start: 'prompt', steps: [{ say: 'Hi.', usage: { input: 100_000, output: 100 } }] },
    { tenants: tenant('small', { limits: { dollarsPerMonth: 0.1 } }) },
  )
  const small = (method: string, path: string, body?: unknown) =>
    callApi(server.url, method, path, body, { authorization: 'Bearer small-token' })
  await small('POST', '/v1/sessions', { id: 's' })
  const end = async (input: string) => {
    const { json } = await small('POST', '/v1/sessions/s/prompts', { input })
    return until('it ends', async () => {
      const result = await small('GET', `/v1/sessions/s/prompts/${encodeURIComponent(json['message'] ?? '')}`)
      return result.json['state'] === 'ended' && result.json
    })
  }
  assert.equal((await end('one'))['reason'], 'done')
  const period = new Date().toISOString().slice(0, 7)
  assert.ok(((await backend.spending?.get('small', period)) ?? 0) > 0.1)
  const requests = model.requests.length
  assert.equal((await end('two'))['reason'], 'cost-limit')
  assert.equal(model.requests.length, requests)
})
