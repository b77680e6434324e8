import { agent, provider, tool } from 'dragoman'
import { scriptedServer } from 'dragoman/testing'

/** Each tenant has its own key and its own time limit, in milliseconds. */
interface Tenant {
  readonly name: string
  readonly apiKey: string
  readonly ms: number
}

/** Answers one prompt of a tenant, until its time is over or `signal` is aborted. */
async function answer(tenant: Tenant, prompt: string, baseUrl: string, signal: AbortSignal) {
  const whoami = tool({
    name: 'whoami',
    description: 'The name of the customer.',
    parameters: { type: 'object' },
    effects: () => [],
    execute: () => tenant.name,
  })
  const model = provider('openai-chat', { apiKey: tenant.apiKey, baseUrl })('gpt-5.2')
  const chat = agent({ model, tools: [whoami], limits: { ms: tenant.ms } })
  const result = await chat.run(prompt, { signal })
  await chat.close()
  return result
}

/** 200 tenants at once in one process. Of ten, one runs into its time limit, and one goes away. */
export async function main() {
  const server = await scriptedServer([
    { when: { user: 'slow' }, delay: 600_000, say: 'Too late.' },
    { call: [{ name: 'whoami', args: {} }] },
    { take: { name: { $from: 'result', match: '.+' } }, say: 'Hello {name}.' },
  ])
  const tenants = Array.from({ length: 200 }, (_, n) => ({
    name: `Tenant ${n}`,
    apiKey: `key-${n}`,
    ms: n % 10 === 1 ? 1000 : 300_000,
  }))
  const results = await Promise.all(
    tenants.map((tenant, n) => {
      const prompt = n % 10 === 1 || n % 10 === 2 ? 'Something slow.' : 'Who am I?'
      return answer(tenant, prompt, server.url, AbortSignal.timeout(n % 10 === 2 ? 500 : 300_000))
    }),
  )
  server.assertDone()
  await server.close()

  const count = (finish: string) => results.filter((one) => one.finish === finish).length
  const ownKey = tenants.filter(({ name, apiKey }) =>
    server.requests.some(
      ({ headers, messages }) =>
        headers['authorization'] === `Bearer ${apiKey}` && messages.some(({ text }) => text === name),
    ),
  )
  return {
    done: count('done'),
    timeLimit: count('time-limit'),
    cancelled: count('cancelled'),
    ownAnswer: results.filter(({ text }, n) => text === `Hello ${tenants[n]?.name}.`).length,
    ownKey: ownKey.length,
  }
}

if (/tenants\.[jt]s$/.test(process.argv[1] ?? '')) console.log(await main())
