import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, test } from 'node:test'
import { localHost } from '../../src/host/local-host.ts'
import { createDiskView } from '../../src/host/files/disk-view.ts'
import { approvalPolicy } from '../../src/policy/approval-policy.ts'
import { shared } from '../support/paths.ts'
import { type Folded, securityCases, skipWithoutCases, unfolded } from '../support/security-cases.ts'
import { ground, type Ground, type Step } from './ground.ts'

interface PathCase {
  readonly id: string
  readonly platform: string
  readonly setup: readonly Step[]
  readonly race?: readonly Step[]
  readonly operation: string
  readonly path?: string
  readonly pathParts?: Folded
  readonly to?: string
  readonly roots?: readonly string[]
  readonly root?: string
  readonly expect: 'in' | 'out' | 'protected' | 'reject'
  readonly accept?: readonly string[]
}

/** Cases of other systems need their disks; test/host has races with a process that swaps names. */
const here = ['paths.json', 'round2/paths.json']
  .flatMap((file) => securityCases<PathCase>(file))
  .filter(({ platform }) => /any|linux/.test(platform))
const cases = here.filter(({ race }) => !race)
const base =
  skipWithoutCases === false
    ? (JSON.parse(readFileSync(join(shared, 'security/paths.json'), 'utf8')) as { base: readonly Step[] }).base
    : []

const WRITES: ReadonlySet<string> = new Set(['write', 'edit', 'delete', 'rename'])

describe('paths.json', { skip: skipWithoutCases }, () => {
  test('policy and host together act only where they may', async (t) => {
    const wrong: string[] = []
    for (const one of cases) {
      using at = ground([...base, ...one.setup], '.')
      const acted = await act(one, at)
      if (acted && one.expect !== 'in' && !one.accept?.includes('in')) wrong.push(`breach ${one.id}`)
      if (!acted && one.expect === 'in' && !one.accept?.length) wrong.push(`friction ${one.id}`)
      assert.equal(readFileSync(join(at.outside, 'secret.txt'), 'utf8'), 'OUTSIDE\n', one.id)
      assert.equal(existsSync(join(at.outside, 'new.txt')) || existsSync(join(at.outside, 'sub')), false, one.id)
    }
    t.diagnostic(`${cases.length} paths, ${wrong.length} wrong`)
    assert.deepEqual(wrong, [])
  })

  test('what happens between the judgement and the use leads nowhere else', async (t) => {
    const races = here.filter(({ race }) => race)
    for (const one of races) {
      using at = ground([...base, ...one.setup], '.')
      const acted = await act(one, at, () => at.take(one.race ?? []))
      assert.equal(acted, false, one.id)
      assert.equal(readFileSync(join(at.outside, 'secret.txt'), 'utf8'), 'OUTSIDE\n', one.id)
      assert.equal(existsSync(join(at.outside, 'new.txt')), false, one.id)
    }
    t.diagnostic(`${races.length} races`)
  })

  test('what is protected asks even when everything is allowed', async (t) => {
    const guarded = cases.filter(({ expect, accept }) => expect === 'protected' && !accept)
    for (const one of guarded) {
      using at = ground([...base, ...one.setup], '.')
      assert.equal((await decide(one, at, 'yolo')).verdict, 'ask', one.id)
    }
    t.diagnostic(`${guarded.length} protected places`)
  })
})

/** Does it happen without a question? */
async function act(one: PathCase, at: Ground, meanwhile: () => void = () => undefined): Promise<boolean> {
  const decision = await decide(one, at, 'auto_edit')
  if (decision.verdict !== 'allow') return false
  meanwhile()
  const folders = foldersOf(one, at)
  const host = localHost({ ...folders, scratch: join(at.base, 'scratch') })
  const { files } = host.withAccess?.(decision.access ?? []) ?? host
  const path = pathOf(one, at)
  try {
    if (one.operation === 'read') await files.read(path, { from: 0, bytes: 1000 })
    else if (one.operation === 'list') await files.list(path)
    else if (one.operation === 'delete') await files.remove(path)
    else if (one.operation === 'glob' || one.operation === 'grep') return await walks(files, path)
    else await files.write(one.to === undefined ? path : resolve(at.ws, one.to), Buffer.from('x\n'))
    return true
  } catch {
    return false
  } finally {
    host.close()
  }
}

/** A search finds what it should not only if it comes by. */
async function walks(files: ReturnType<typeof localHost>['files'], path: string): Promise<boolean> {
  let met = false
  await files.walk(path.replace(/[^/]*\*.*$/, ''), ({ entries }) => {
    met ||= entries.some(({ name }) => name === 'secret.txt')
    return entries.filter(({ kind }) => kind === 'folder').map(({ name }) => name)
  })
  return met
}

async function decide(one: PathCase, at: Ground, mode: 'auto_edit' | 'yolo') {
  const kind = WRITES.has(one.operation) ? ('write' as const) : ('read' as const)
  const policy = approvalPolicy({ mode, ...foldersOf(one, at), home: at.home, disk: createDiskView() })
  const paths = [pathOf(one, at).replace(/[^/]*\*.*$/, ''), ...(one.to === undefined ? [] : [resolve(at.ws, one.to)])]
  return policy.decide({ tool: `${kind}_file`, input: {}, effects: paths.map((path) => ({ kind, path })) })
}

function pathOf(one: PathCase, at: Ground): string {
  const path = at.fill(one.path ?? unfolded(one.pathParts ?? ''))
  return path.startsWith('/') ? path : `${at.ws}/${path}`
}

function foldersOf({ roots = ['ws'], root }: PathCase, at: Ground) {
  const names = root === undefined ? roots : [root]
  const full = (name: string) => join(at.base, name.replace(/:ro$/, ''))
  return {
    folders: names.filter((name) => !name.endsWith(':ro')).map(full),
    readFolders: names.filter((name) => name.endsWith(':ro')).map(full),
  }
}
