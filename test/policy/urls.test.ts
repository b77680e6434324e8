import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createGuardedWebClient } from '../../src/host/web/guarded-web-client.ts'
import { describeNonPublicAddress } from '../../src/policy/url/ip-address.ts'
import { checkUrl } from '../../src/policy/url/check-url.ts'
import { createUrlGuard, withUrlGuard } from '../../src/policy/url/url-guard.ts'
import { checkUrlForUsage, type UrlCheckContext, type UrlUsage } from '../../src/policy/url/url-usage.ts'
import { fakeNet } from '../support/fake-net.ts'
import { type Folded, securityCases, skipWithoutCases, unfolded } from '../support/security-cases.ts'

type Answers = readonly string[] | 'servfail' | 'timeout' | { readonly cname: string }

interface UrlCase extends UrlCheckContext {
  readonly id: string
  readonly surface: UrlUsage
  readonly url?: string
  readonly urlParts?: Folded
  readonly verdict: 'allow' | 'ask' | 'block'
  readonly accept?: readonly string[]
  readonly dns?: Readonly<Record<string, Answers>>
  readonly dnsSequence?: readonly (readonly string[])[]
  readonly connectFails?: boolean
  /** The redirects never end. */
  readonly loop?: boolean
  readonly redirects?: readonly { readonly status: number; readonly location: string }[]
  readonly sendHeaders?: Readonly<Record<string, string>>
  readonly mustNotConnect?: readonly string[]
  readonly mustNotSend?: Readonly<Record<string, readonly string[]>>
}

/** A name service in memory: what the case says, and one public address for everybody else. */
function nameService({ dns = {}, dnsSequence }: UrlCase): (host: string) => Promise<readonly string[]> {
  let asked = 0
  return async (host) => {
    if (dnsSequence) return Promise.resolve(dnsSequence[Math.min(asked++, dnsSequence.length - 1)] ?? [])
    const found = dns[host] ?? ['93.184.215.14']
    if (typeof found === 'string') throw Object.assign(new Error(found), { code: found })
    return 'cname' in found ? nameService({ dns } as UrlCase)(found.cname) : found
  }
}

/** What happens with a case: the text is judged, and what may be fetched is fetched, over a net that is not there. */
async function outcome(one: UrlCase): Promise<{ verdict: string; breaches: string[] }> {
  const text = one.url ?? unfolded(one.urlParts ?? '')
  const judged = checkUrlForUsage(one.surface, text, { ...one, origin: one.origin ?? 'tool-output' })
  const breaches: string[] = []
  if (judged.verdict !== 'allow') return { verdict: judged.verdict === 'deny' ? 'block' : 'ask', breaches }
  if (!LOOKED_UP.has(one.surface)) return { verdict: 'allow', breaches }
  const steps = [...(one.redirects ?? [])]
  const net = fakeNet(() => {
    const next = steps.shift()
    if (next && one.loop) steps.push(next)
    return next ? { status: next.status, headers: { location: next.location } } : { status: 200, body: 'ok' }
  }, one.connectFails)
  const guard = createUrlGuard({ typed: () => one.origin === 'user', secrets: () => one.secrets ?? [] })
  const web = createGuardedWebClient({ urlPolicy: guard, resolve: nameService(one), connect: net.dial })
  const page = await web.fetch({ url: text, ...(one.sendHeaders && { headers: one.sendHeaders }) })
  for (const address of net.dialled) {
    if (describeNonPublicAddress(address) !== undefined) breaches.push(`dialled ${address}`)
    if (one.mustNotConnect?.includes(address)) breaches.push(`dialled ${address}`)
  }
  for (const { host, headers } of net.requests) {
    for (const name of one.mustNotSend?.[host] ?? []) if (headers.includes(`${name}:`)) breaches.push(`sent ${name}`)
  }
  return { verdict: 'problem' in page ? 'block' : 'allow', breaches }
}

const LOOKED_UP = new Set<UrlUsage>(['fetch', 'oauth-metadata', 'oauth-token'])

describe('urls.json', () => {
  test('no breach, and next to no friction', { skip: skipWithoutCases }, async (t) => {
    const cases = ['urls.json', 'round2/urls.json'].flatMap((file) => securityCases<UrlCase>(file))
    const wrong: string[] = []
    let [breaches, friction] = [0, 0]
    for (const one of cases) {
      const found = await outcome(one)
      const fine = found.verdict === one.verdict || one.accept?.includes(found.verdict) === true
      if (found.breaches.length > 0 || (!fine && found.verdict === 'allow')) {
        breaches++
        wrong.push(`${one.id}: ${found.verdict} instead of ${one.verdict}; ${found.breaches.join(', ')}`)
      } else if (!fine && one.verdict === 'allow') {
        friction++
        wrong.push(`${one.id}: ${found.verdict} instead of allow`)
      } else if (!fine) wrong.push(`${one.id}: ${found.verdict} instead of ${one.verdict}`)
    }
    t.diagnostic(`${cases.length} addresses: ${breaches} breaches, ${friction} friction, ${wrong.length} not as wanted`)
    assert.equal(breaches, 0, wrong.join('\n'))
    assert.ok(friction <= cases.length / 50, wrong.join('\n'))
  })
})

describe('addresses', () => {
  const INNER = [
    '127.0.0.1',
    '10.1.2.3',
    '169.254.169.254',
    '168.63.129.16',
    '100.100.100.200',
    '::',
    '::1',
    '::7f00:1',
  ]
  const MORE = ['fd00:ec2::254', 'fe80::1', '::ffff:10.0.0.1', '64:ff9b::a9fe:a9fe', '64:ff9b:1::1', '2002:7f00:1::']
  for (const address of [
    ...INNER,
    ...MORE,
    '2001:0:1::1',
    '2a00::5efe:10.0.0.1',
    'ff02::1',
    'x',
    '1.2.3',
    '1.2.3.4%lo',
  ])
    test(`${address} is inner`, () => assert.notEqual(describeNonPublicAddress(address), undefined))
  for (const address of [
    '1.1.1.1',
    '172.32.0.1',
    '2606:4700::1',
    '::ffff:1.1.1.1',
    '64:ff9b::101:101',
    '2002:101:101::',
  ])
    test(`${address} is public`, () => assert.equal(describeNonPublicAddress(address), undefined))
})

describe('data in an address', () => {
  const ORDINARY = [
    'https://github.com/o/r/blob/0123456789abcdef0123456789abcdef01234567/src/a.ts',
    'https://developer.mozilla.org/en-US/docs/Web/JavaScript/Reference/Global_Objects/String/normalize',
    'https://stackoverflow.com/questions/11227809/why-is-processing-a-sorted-array-faster-than-an-unsorted-array',
    'https://packages.example.org/@scope/name/-/name-1.2.3.tgz',
    'https://www.youtube.com/watch?v=dQw4w9WgXcQ',
    'https://learn.microsoft.com/en-us/dotnet/api/system.string?view=net-8.0',
    'https://api.github.com/repos/nodejs/node/issues?state=open&per_page=100&page=2',
    'https://example.com/search?q=how+to+use+node+fetch+with+typescript+and+esm',
    'https://d111111abcdef8.cloudfront.net/x',
    'https://my-app-7d9f8b6c5.vercel.app/',
    'https://пример.рф/',
    'https://例え.jp/',
  ]
  for (const url of ORDINARY) test(`${url} is ordinary`, () => assert.equal(checkUrl(url).verdict, 'allow'))

  const coded = Buffer.from('a secret that nobody should read').toString('base64url')
  for (const url of [
    `https://evil.example/?d=${coded}`,
    `https://evil.example/${coded}`,
    'https://evil.example/AKIAABCDEFGHIJKLMNOP',
    `https://${coded.slice(0, 40)}.evil.example/`,
    `https://evil.example/?d=${'word+'.repeat(100)}`,
  ])
    test(`${url.slice(0, 60)} is asked about, unless the person typed it`, () => {
      assert.equal(checkUrl(url).verdict, 'ask')
      assert.equal(checkUrl(url, { typed: true }).verdict, 'allow')
    })

  test('a secret is refused in every coding, and in every mode', async () => {
    const secret = 'Hunter2-Hunter2'
    const bytes = Buffer.from(secret)
    const wide = secret.replace(/[!-~]/g, (char) => String.fromCharCode(char.charCodeAt(0) + 0xfee0))
    const numbers = (mark: string, base: number) => [...bytes].map((byte) => `${mark}${byte.toString(base)}`).join(';')
    for (const form of [
      secret,
      encodeURIComponent(secret),
      bytes.toString('base64'),
      bytes.toString('hex'),
      encodeURIComponent(wide),
      'Uhagre2-Uhagre2',
      'JB2W45DFOIZC2SDVNZ2GK4RS',
      numbers('', 10),
      numbers('', 8),
      numbers('0x', 16),
      encodeURIComponent(`${numbers('&#', 10)};`),
      encodeURIComponent(`${numbers('&#x', 16)};`),
      Buffer.from(bytes.toString('base64')).toString('base64'),
      Buffer.from(bytes.toString('hex')).toString('base64'),
      Buffer.from(secret, 'utf16le').toString('base64'),
      bytes.toString('base64').split('').reverse().join(''),
    ]) {
      const url = `https://evil.example/x?k=${form}`
      assert.equal(checkUrl(url, { secrets: [secret] }).verdict, 'deny', url)
      const free = { decide: () => ({ verdict: 'allow', rule: 'yolo', why: '' }) as const, remember: () => '' }
      const policy = withUrlGuard(free, createUrlGuard({ secrets: () => [secret] }))
      const effects = [{ kind: 'net', host: 'evil.example', urls: [url] }] as const
      assert.equal((await policy.decide({ tool: 'web_fetch', input: {}, effects })).verdict, 'deny')
    }
  })
})
