import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { check, layers, maxLines, specifiers, type Source } from '../support/layers.ts'
import { root } from '../support/paths.ts'
import { blank } from '../support/scan.ts'

/** The rules that one made-up file breaks. */
function rules(path: string, ...lines: string[]): string[] {
  return check([{ path, text: `${lines.join('\n')}\n` }]).map(({ rule }) => rule)
}

test('src keeps the rules of the source tree', () => {
  const sources = readSources()
  assert.ok(sources.length > 0, 'src has no .ts file')
  const report = check(sources).map(({ path, line, rule }) => `src/${path}:${line} ${rule}`)
  assert.deepEqual(report, [], `\n${report.join('\n')}`)
})

describe('layers', () => {
  test('a folder may import from itself and from below', () => {
    assert.deepEqual(
      rules('wire/gemini.ts', "import { a } from '../model/turn.ts'", "import { b } from './calls.ts'"),
      [],
    )
    assert.deepEqual(
      rules('tool/builtin/read.ts', "import { a } from '../define.ts'", "import text from './read.md'"),
      [],
    )
    assert.deepEqual(rules('cli/main.ts', "const { run } = await import('../agent/run.ts')"), [])
  })

  test('a folder may not import from above or beside', () => {
    const forms = [
      "import { a } from '../agent/run.ts'",
      "import type { A } from '../agent/run.ts'",
      "import {\n  a,\n  b,\n} from '../agent/run.ts'",
      "import '../agent/run.ts'",
      "export { a } from '../agent/run.ts'",
      "const { a } = await import('../agent/run.ts')",
      "type A = import('../agent/run.ts').A",
      'const a = `${await import(`../agent/run.ts`)}`',
    ]
    for (const form of forms) assert.deepEqual(rules('tool/define.ts', form), ['tool may not import agent'], form)
    assert.deepEqual(rules('session/log.ts', "import { a } from '../provider/table.ts'"), [
      'session may not import provider',
    ])
    assert.deepEqual(rules('model/turn.ts', "import { a } from '../schema/walk.ts'"), ['model may not import schema'])
  })

  test('of provider, others import only the entry files', () => {
    assert.deepEqual(rules('agent/run.ts', "import { a } from '../provider/index.ts'"), [])
    assert.deepEqual(rules('agent/run.ts', "import { a } from '../provider/http/proxy.ts'"), [
      'provider/http/proxy.ts is internal to provider',
    ])
  })

  test('src/index.ts imports all, and nobody imports it', () => {
    assert.deepEqual(rules('index.ts', "export { main } from './cli/main.ts'"), [])
    assert.deepEqual(rules('cli/main.ts', "import { a } from '../index.ts'"), ['cli may not import index.ts'])
    assert.deepEqual(rules('cli/main.ts', "import { a } from 'dragoman/embed'"), ['imports the package itself'])
  })

  test('a folder or a file that is in no layer', () => {
    assert.deepEqual(rules('utils/string.ts', ''), ['src/utils is in no layer'])
    assert.deepEqual(rules('helpers.ts', ''), ['src/helpers.ts is in no layer'])
    assert.deepEqual(rules('cli/main.ts', "import { a } from '../utils/string.ts'"), ['cli may not import utils'])
  })

  test('outside src there is only package.json', () => {
    assert.deepEqual(rules('cli/main.ts', "import pkg from '../../package.json' with { type: 'json' }"), [])
    assert.deepEqual(rules('cli/main.ts', "import { a } from '../../test/support/paths.ts'"), [
      'imports ../../test/support/paths.ts, outside src',
    ])
  })
})

describe('purity', () => {
  const impure: [code: string, name: string][] = [
    ["import { join } from 'node:path'", 'node:path'],
    ["import { join } from 'path'", 'path'],
    ["await fetch('https://example.com')", 'fetch('],
    ['globalThis.fetch(url)', 'fetch('],
    ['const now = Date.now()', 'Date.now'],
    ['const now = new Date()', 'new Date'],
    ['const id = Math.random()', 'Math.random'],
    ["const key = process.env['KEY']", 'process'],
    ['const key = `key-${process.env}`', 'process'],
    ['const now = performance.now()', 'performance'],
  ]
  for (const folder of ['model', 'schema', 'wire']) {
    test(`${folder} uses no I/O, clock or randomness`, () => {
      for (const [code, name] of impure) {
        assert.deepEqual(rules(`${folder}/a.ts`, code), [`${folder} is pure: no ${name}`], code)
      }
    })
  }

  test('other folders have a clock, and packages are free to all', () => {
    assert.deepEqual(rules('agent/run.ts', 'const now = Date.now() + performance.now()'), [])
    assert.deepEqual(rules('wire/sse.ts', "import { createParser } from 'eventsource-parser'"), [])
  })

  test('words in comments and strings are only words', () => {
    const text = [
      '// never fetch(url), Date.now() or process.env here',
      "/* import { a } from '../agent/run.ts' */",
      "const said = 'a preprocess.step, process.env'",
      'const more = `new Date( ${said} Math.random `',
      'const pattern = /["\'`]process.env|[/]Date.now/.test(said)',
    ]
    assert.deepEqual(rules('wire/a.ts', ...text, 'reprocess.run(prefetch(said), ...performances)'), [])
  })
})

describe('network, files and processes', () => {
  test('network is for those that need it', () => {
    for (const path of [
      'provider/http/node-http-client.ts',
      'tool/mcp/http.ts',
      'server/http.ts',
      'host/local.ts',
      'rehearsal/server.ts',
    ]) {
      assert.deepEqual(rules(path, "import { request } from 'node:http'", 'await fetch(url)'), [], path)
    }
    for (const name of ['http', 'https', 'net']) {
      const rule = `no network here: node:${name}`
      assert.deepEqual(rules('agent/run.ts', `import { a } from 'node:${name}'`), [rule])
      assert.deepEqual(rules('provider/table.ts', `import { a } from 'node:${name}'`), [rule])
    }
    const uses = ['await fetch(url)', 'const get = given ?? fetch', 'const get = fetch', 'globalThis.fetch']
    for (const use of uses) assert.deepEqual(rules('tool/builtin/web.ts', use), ['no network here: fetch'], use)
    const innocent = [
      'await host.fetch(url)',
      'const fetch = host.fetch',
      'run({ fetch: host.fetch })',
      'prefetch(url)',
    ]
    for (const use of innocent) assert.deepEqual(rules('tool/builtin/web.ts', use), [], use)
  })

  test('files and processes are for those that need them', () => {
    for (const name of ['fs', 'fs/promises', 'child_process']) {
      const code = `import { a } from 'node:${name}'`
      for (const path of ['host/local.ts', 'session/store/file.ts', 'cli/main.ts'])
        assert.deepEqual(rules(path, code), [])
      for (const path of ['session/log.ts', 'tool/builtin/read.ts', 'server/http.ts', 'index.ts']) {
        assert.deepEqual(rules(path, code), [`no files or processes here: node:${name}`], path)
      }
    }
    assert.deepEqual(rules('agent/run.ts', "import { a } from 'fs'"), ['no files or processes here: fs'])
  })
})

describe('style', () => {
  test(`no file over ${maxLines} lines`, () => {
    const lines = Array.from({ length: maxLines }, () => '//')
    assert.deepEqual(rules('cli/main.ts', ...lines), [])
    assert.deepEqual(rules('cli/main.ts', ...lines, '//'), [`${maxLines + 1} lines, over ${maxLines}`])
  })

  test('no default exports', () => {
    const rule = ['no default exports']
    assert.deepEqual(rules('cli/main.ts', 'export default function main() {}'), rule)
    assert.deepEqual(rules('cli/main.ts', 'export { main as default }'), rule)
    assert.deepEqual(rules('cli/main.ts', "export const rule = 'export default x'"), [])
  })

  test('no `export *`', () => {
    const rule = ['no `export *`']
    assert.deepEqual(rules('cli/main.ts', "export * from './args.ts'"), rule)
    assert.deepEqual(rules('cli/main.ts', "export * as args from './args.ts'"), rule)
    assert.deepEqual(rules('cli/main.ts', "export type * from './args.ts'"), rule)
  })

  test('no `any`', () => {
    const uses = [
      'let a: any',
      'f(a as any)',
      'new Set<any>()',
      'let a: Map<string, any>',
      'let a: Record<any, string>',
    ]
    for (const use of uses) assert.deepEqual(rules('cli/main.ts', use), ['no `any`'], use)
    for (const use of ['Promise.any(all)', 'let a: anything', '// as any'])
      assert.deepEqual(rules('cli/main.ts', use), [])
  })
})

test('a breach says where it is', () => {
  assert.deepEqual(check([{ path: 'wire/a.ts', text: '\n\nconst now = Date.now()\n' }]), [
    { path: 'wire/a.ts', line: 3, rule: 'wire is pure: no Date.now' },
  ])
})

test('the scanner keeps every character in its place', () => {
  const text = "a('b\\'c', `d${e({ f: '}' })}g`, /[/'\"]\\//g) / h / 2 // i\n/* j\n */ import { k } from './l.ts'\n"
  const code = blank(text)
  assert.equal(code.length, text.length)
  assert.equal(code.replace(/ +/g, ' '), "a(' ', ` ${e({ f: ' ' })} `, / /g) / h / 2 \n \n import { k } from ' '\n")
  assert.deepEqual(
    specifiers(text).map(({ specifier }) => specifier),
    ['./l.ts'],
  )
})

test('every layer has a number, and model is the lowest', () => {
  assert.equal(Math.min(...Object.values(layers)), layers['model'])
})

function readSources(): Source[] {
  return readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => ({ path: path.replaceAll('\\', '/'), text: readFileSync(join(root, 'src', path), 'utf8') }))
}
