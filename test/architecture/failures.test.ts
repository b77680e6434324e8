import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { root } from '../support/paths.ts'

/** One failure of docs/failures.md, in one line. */
interface Entry {
  readonly number: number
  readonly text: string
}

/** A file, a folder or a pattern of fixtures that the page names, with the tests in it. */
interface Reference {
  readonly path: string
  readonly names: readonly string[]
}

const SELF = 'test/architecture/failures.test.ts'
const page = readFileSync(join(root, 'docs/failures.md'), 'utf8')
const fixtures = readdirSync(join(root, 'test/fixtures'))
const sources = readSources()
const files = new Map<string, string>()

describe('docs/failures.md', () => {
  test('lists every failure from T01 on, in order, each once', () => {
    const numbers = entriesIn(page).map(({ number }) => number)
    assert.ok(numbers.length >= 168, `${numbers.length} entries`)
    assert.deepEqual(
      numbers,
      numbers.map((_number, at) => at + 1),
    )
  })

  test('lists every number that the repository uses, and the tests use every number that it lists', () => {
    const entries = entriesIn(page)
    const used = [...sources, ...fixtures.map((name) => ({ path: `test/fixtures/${name}`, text: name }))].flatMap(
      ({ path, text }) => numbersIn(text).map((number) => ({ path, number })),
    )
    assert.ok(used.length > 1000, 'the numbers were not found')
    assert.deepEqual(
      used.filter(({ number }) => number < 1 || number > entries.length),
      [],
    )
    const tested = new Set(used.flatMap(({ path, number }) => (path.startsWith('test/') ? [number] : [])))
    const idle = entries.filter(({ number, text }) => !tested.has(number) && !isExcused(text))
    assert.deepEqual(
      idle.map(({ number }) => number),
      [],
    )
  })

  test('names a test for every failure, or says why there is none', () => {
    for (const { number, text } of entriesIn(page)) {
      const references = referencesIn(text)
      assert.ok(references.length > 0 !== isExcused(text), `T${number}: a test, or "No test:" and the reason`)
      for (const { path } of references.filter(({ path: one }) => one.startsWith('test/fixtures/')))
        assert.deepEqual(numbersIn(path), [number], `the fixtures of T${number}`)
    }
  })

  test('names only tests that exist', () => {
    const all = referencesIn(page.replaceAll(/\s+/g, ' '))
    assert.ok(all.length > 168)
    assert.deepEqual(all.flatMap(missing), [])
  })

  test('is checked by rules that can fail', () => {
    assert.deepEqual(missing({ path: 'test/architecture/nothing.test.ts', names: [] }), [
      'test/architecture/nothing.test.ts',
    ])
    assert.deepEqual(missing({ path: 'test/architecture/layers.test.ts', names: ['layers', 'no such name'] }), [
      'test/architecture/layers.test.ts: no such name',
    ])
    assert.deepEqual(missing({ path: 'test/fixtures/T0-*', names: [] }), ['test/fixtures/T0-*'])
    assert.deepEqual(numbersIn('T01–T20, (T155); 2026-01-01T12:00:00Z, }T12:00, AT12, T1'), [1, 20, 155])
    assert.deepEqual(referencesIn('`test/a.ts` “b c” and “d”, `test/e-*`.'), [
      { path: 'test/a.ts', names: ['b c', 'd'] },
      { path: 'test/e-*', names: [] },
    ])
  })
})

test('no comment or page refers to a document outside of the repository', () => {
  const outside = /§\s?\d|\bDESIGN\.md|tool-call-failures|\bseed 0\d\d\b|(?<![\w.])research\//
  const found = sources.filter(({ path, text }) => path !== SELF && outside.test(text))
  assert.deepEqual(
    found.map(({ path, text }) => `${path}: ${outside.exec(text)?.[0]}`),
    [],
  )
})

function entriesIn(text: string): Entry[] {
  return text
    .split(/^(?:- (?=\*\*T)|## )/m)
    .map((block) => block.replaceAll(/\s+/g, ' ').trim())
    .flatMap((block) => {
      const number = /^\*\*T(\d{2,3}) [^*]+\.\*\* ./.exec(block)?.[1]
      return number === undefined ? [] : [{ number: Number(number), text: block }]
    })
}

/** Does the entry say why no test can hold it? */
function isExcused(text: string): boolean {
  return /No test: \S/.test(text)
}

function referencesIn(text: string): Reference[] {
  return [...text.matchAll(/`(test\/[^`…]+)`((?:(?: and)? “[^”]+”)*)/g)].map(([, path = '', names = '']) => ({
    path,
    names: [...names.matchAll(/“([^”]+)”/g)].map(([, name = '']) => name),
  }))
}

/** What a reference names that is not there. */
function missing({ path, names }: Reference): string[] {
  if (path.endsWith('*')) {
    const start = path.slice('test/fixtures/'.length, -1)
    return fixtures.some((name) => name.startsWith(start)) ? [] : [path]
  }
  if (!existsSync(join(root, path))) return [path]
  if (names.length === 0) return []
  const text = files.get(path) ?? readFileSync(join(root, path), 'utf8').replaceAll(/\s+/g, ' ')
  files.set(path, text)
  return names.filter((name) => !contains(text, name)).map((name) => `${path}: ${name}`)
}

/** A number alone must not be found inside of a longer one. */
function contains(text: string, name: string): boolean {
  return /^T\d+$/.test(name) ? new RegExp(`\\b${name}\\b`).test(text) : text.includes(name)
}

/** The numbers in a text; times of day have a T before their hours. */
function numbersIn(text: string): number[] {
  return [...text.matchAll(/(?<![\w])T(\d{2,3})(?!\w|:\d)/g)].map(([, digits]) => Number(digits))
}

/** Everything that people wrote: sources, tests, scripts and pages. */
function readSources(): { path: string; text: string }[] {
  const inFolders = ['src', 'test', 'docs', 'bench', 'scripts', 'examples'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
      (path) => `${folder}/${path.replaceAll('\\', '/')}`,
    ),
  )
  const atRoot = readdirSync(root).filter((name) => name.endsWith('.md'))
  return [...inFolders, ...atRoot]
    .filter((path) => /\.(?:ts|mjs|js|md)$/.test(path) && !path.includes('node_modules/'))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}
