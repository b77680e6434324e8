import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { applySmartEdit, type MatchStrategy } from '../../src/tool/edit/apply-smart-edit.ts'
import { textOf, workspace } from './workspace.ts'

const CODE = `import fs from 'node:fs'

export class Store {
	constructor(path) {
		this.path = path
		this.items = new Map()
	}

	load() {
		const text = fs.readFileSync(this.path, 'utf8')
		for (const line of text.split('\\n')) {
			const [key, value] = line.split('=')
			this.items.set(key, value)
		}
		return this.items.size
	}

	save() {
		const lines = []
		for (const [key, value] of this.items) {
			lines.push(key + '=' + value)
		}
		fs.writeFileSync(this.path, lines.join('\\n'))
	}
}
`

const PYTHON = `def outer():
    total = 0
    for item in items:
        if item.valid:
            total += item.price
        else:
            skipped.append(item)
    return total
`

interface Case {
  readonly name: string
  readonly text?: string
  readonly old: string
  readonly fresh: string
  readonly strategy: MatchStrategy
  /** What must be there afterwards; and what must not. */
  readonly has: string
  readonly not?: string
  readonly lines: readonly [number, number]
}

const CASES: readonly Case[] = [
  {
    name: 'word for word',
    old: 'this.path = path\n',
    fresh: 'this.path = resolve(path)\n',
    strategy: 'exact',
    has: '\t\tthis.path = resolve(path)\n\t\tthis.items',
    lines: [5, 5],
  },
  {
    name: 'spaces for tabs, in both texts',
    old: "    load() {\n        const text = fs.readFileSync(this.path, 'utf8')\n        for",
    fresh: '    load() {\n        const text = read(this.path)\n        for',
    strategy: 'whitespace',
    has: '\tload() {\n\t\tconst text = read(this.path)\n\t\tfor (const line of',
    lines: [9, 11],
  },
  {
    name: 'two spaces for a tab, whole lines',
    old: "    const lines = []\n    for (const [key, value] of this.items) {\n      lines.push(key + '=' + value)\n    }\n",
    fresh:
      "    const lines = []\n    for (const [key, value] of this.items) {\n      if (key) {\n        lines.push(key + '=' + value)\n      }\n    }\n",
    strategy: 'indentation',
    has: "\t\tfor (const [key, value] of this.items) {\n\t\t\tif (key) {\n\t\t\t\tlines.push(key + '=' + value)\n\t\t\t}\n\t\t}\n",
    lines: [19, 22],
  },
  {
    name: 'no indentation at all, the new text as the file has it',
    old: "for (const line of text.split('\\n')) {\nconst [key, value] = line.split('=')\nthis.items.set(key, value)\n}",
    fresh:
      "\t\tfor (const line of text.split('\\n')) {\n\t\t\tconst [key, value] = line.split(':')\n\t\t\tthis.items.set(key, value)\n\t\t}",
    strategy: 'indentation',
    has: "\t\tfor (const line of text.split('\\n')) {\n\t\t\tconst [key, value] = line.split(':')\n\t\t\tthis.items.set(key, value)\n\t\t}\n",
    lines: [11, 14],
  },
  {
    name: 'Python, shifted as a whole',
    text: PYTHON,
    old: 'if item.valid:\n    total += item.price\nelse:\n    skipped.append(item)\n',
    fresh: 'if item.valid:\n    total += item.price\n    count += 1\nelse:\n    skipped.append(item)\n',
    strategy: 'indentation',
    has: '        if item.valid:\n            total += item.price\n            count += 1\n        else:\n',
    lines: [4, 7],
  },
  {
    name: 'space at the ends of lines',
    old: 'this.path = path   \n\t\tthis.items = new Map()  ',
    fresh: 'this.path = path   \n\t\tthis.items = new Set()  ',
    strategy: 'indentation',
    has: '\t\tthis.path = path\n\t\tthis.items = new Set()\n',
    lines: [5, 6],
  },
  {
    name: 'space inside of lines',
    old: 'lines.push( key+"=" +value )'.replaceAll('"', "'"),
    fresh: 'lines.push(value)',
    strategy: 'whitespace',
    has: '\t\t\tlines.push(value)\n',
    lines: [21, 21],
  },
  {
    name: 'a blank line missing, the change elsewhere',
    old: "import fs from 'node:fs'\nexport class Store {\n\tconstructor(path) {\n\t\tthis.path = path\n",
    fresh: "import fs from 'node:fs'\nexport class Store {\n\tconstructor(path) {\n\t\tthis.path = String(path)\n",
    strategy: 'whitespace',
    has: "import fs from 'node:fs'\n\nexport class Store {\n\tconstructor(path) {\n\t\tthis.path = String(path)\n",
    lines: [1, 5],
  },
  {
    name: 'other quotes around what stays',
    old: 'const [key, value] = line.split("=")\n\t\t\tthis.items.set(key, value)',
    fresh: 'const [key, value] = line.split("=")\n\t\t\tthis.items.set(key.trim(), value)',
    strategy: 'quotes',
    has: "\t\t\tconst [key, value] = line.split('=')\n\t\t\tthis.items.set(key.trim(), value)\n",
    lines: [12, 13],
  },
  {
    name: 'printers’ quotes become plain ones, in new lines too',
    old: 'const lines = []\n\t\tfor (const [key, value] of this.items) {\n\t\t\tlines.push(key + ‘=’ + value)\n\t\t}',
    fresh:
      'const lines = []\n\t\tfor (const [key, value] of this.items) {\n\t\t\tlines.push(‘#’)\n\t\t\tlines.push(key + ‘=’ + value)\n\t\t}',
    strategy: 'quotes',
    has: "\t\t\tlines.push('#')\n\t\t\tlines.push(key + '=' + value)\n",
    not: '‘',
    lines: [19, 22],
  },
  {
    name: 'one stale line that is not what the change is about',
    old: "\tsave() {\n\t\tconst lines = []\n\t\tfor (const [key, value] of this.items) {\n\t\t\tlines.push(key + '=' + values)\n\t\t}\n\t\tfs.writeFileSync(this.path, lines.join('\\n'))\n\t}",
    fresh:
      "\tsave() {\n\t\tconst lines = []\n\t\tfor (const [key, value] of this.items) {\n\t\t\tlines.push(key + '=' + values)\n\t\t}\n\t\tfs.writeFileSync(this.path, lines.join('\\n'), 'utf8')\n\t}",
    strategy: 'fuzzy',
    has: "\t\t\tlines.push(key + '=' + value)\n\t\t}\n\t\tfs.writeFileSync(this.path, lines.join('\\n'), 'utf8')\n",
    lines: [18, 24],
  },
  {
    name: 'a stale line whose new version has no space at its end any more',
    text: 'One line above.\n\nThe exception is now called an invalid algorithm. \n\nOne line below.\n',
    old: 'One line above.\n\nThe exception is now called an nvalid algorithm. \n\nOne line below.',
    fresh: 'One line above.\n\nThe exception is now called an invalid algorithm.\n\nOne line below.',
    strategy: 'fuzzy',
    has: 'an invalid algorithm.\n\nOne line below.\n',
    lines: [1, 5],
  },
  {
    name: 'a short stale line, one word apart from one line of the file',
    text: "'use strict';\n\nmodule.exports = {\n};\n",
    old: 'modules.exports = {\n};',
    fresh: 'module.exports = {};',
    strategy: 'fuzzy',
    has: "'use strict';\n\nmodule.exports = {};\n",
    lines: [3, 4],
  },
  {
    name: 'no indentation, and new lines that are deeper by the file’s own step',
    text: 'function f() {\n  const a = read()\n  close(a)\n  done()\n}\n',
    old: 'const a = read()\nclose(a)\ndone()\n',
    fresh: 'const a = read()\nif (a) {\n  log(a)\n}\nclose(a)\ndone()\n',
    strategy: 'indentation',
    has: '  const a = read()\n  if (a) {\n    log(a)\n  }\n  close(a)\n  done()\n}\n',
    lines: [2, 4],
  },
  {
    name: 'other indentation of lines that continue another one',
    text: "const one = require('one'),\n      cursor = one.cursor;\n\nif (one) {\n  run();\n}\n",
    old: "const one = require('one'),\n            cursor = one.cursor;",
    fresh: "const one = require('one'),\n            erase = one.erase,\n            cursor = one.cursor;",
    strategy: 'indentation',
    has: "const one = require('one'),\n      erase = one.erase,\n      cursor = one.cursor;\n",
    lines: [1, 2],
  },
  {
    name: 'a passage taken out',
    old: "  save() {\n    const lines = []\n    for (const [key, value] of this.items) {\n      lines.push(key + '=' + value)\n    }\n    fs.writeFileSync(this.path, lines.join('\\n'))\n  }\n",
    fresh: '',
    strategy: 'indentation',
    has: '\t\treturn this.items.size\n\t}\n\n}\n',
    lines: [18, 24],
  },
]

describe('smart_edit finds the place', () => {
  for (const { name, text = CODE, old, fresh, strategy, has, not, lines } of CASES) {
    test(name, () => {
      const edited = applySmartEdit(text, { old, replacement: fresh })
      assert.ok('text' in edited, JSON.stringify(edited))
      assert.deepEqual([edited.strategy, edited.first, edited.last], [strategy, ...lines])
      assert.ok(edited.text.includes(has), edited.text)
      if (not !== undefined) assert.ok(!edited.text.includes(not), edited.text)
      const outside = text.split('\n')
      const after = edited.text.split('\n')
      assert.deepEqual(after.slice(0, lines[0] - 1), outside.slice(0, lines[0] - 1), 'what is above stays')
      const below = outside.slice(lines[1])
      assert.deepEqual(after.slice(after.length - below.length), below, 'what is below stays')
    })
  }
})

describe('smart_edit refuses to guess', () => {
  const twice = 'a = 1\nfoo(a)\nb = 2\n\na = 1\nfoo(a)\nb = 3\n'
  const refused: readonly (readonly [name: string, text: string, old: string, fresh: string, why: string])[] = [
    ['two places word for word', twice, 'foo(a)', 'bar(a)', 'ambiguous'],
    ['two places with other indentation', twice, '  a = 1\n  foo(a)', '  a = 2\n  foo(a)', 'ambiguous'],
    [
      'the line to change is not what the model thinks',
      CODE,
      "\t\tconst lines = []\n\t\tfor (const [key, value] of this.items) {\n\t\t\tlines.push(key + value)\n\t\t}\n\t\tfs.writeFileSync(this.path, lines.join('\\n'))",
      "\t\tconst lines = []\n\t\tfor (const [key, value] of this.items) {\n\t\t\tlines.push(key)\n\t\t}\n\t\tfs.writeFileSync(this.path, lines.join('\\n'))",
      'unclear',
    ],
    [
      'quotes in a new line that the file writes otherwise',
      CODE,
      'const [key, value] = line.split("=")\n\t\t\tthis.items.set(key, value)',
      'const [key, value] = line.split("=")\n\t\t\tthis.items.set(key, "don\'t")',
      'unclear',
    ],
    ['nothing like it', CODE, 'class Other extends Base {\n  run() {}\n}', 'x', 'not-found'],
    ['too short for anything but word for word', 'x = 1\n', 'x=2', 'y', 'not-found'],
    [
      'flat code with a new block in it',
      PYTHON,
      'if item.valid:\ntotal += item.price\nelse:\nskipped.append(item)',
      'if item.valid:\nif item.price:\ntotal += item.price\nelse:\nskipped.append(item)',
      'unclear',
    ],
    [
      'a stale line whose rest is a bracket, as the new text has one',
      'typedef struct {\n  void* instance;\n  void (*destroy)(void*);\n} extension;\n\nint next;\n',
      'typedef struct {\n  void* instance;\n  void (*destroy)(void*);\n} ;\n',
      'struct extension {\n  void* instance = nullptr;\n  void (*destroy)(void*) = nullptr;\n};\n',
      'not-found',
    ],
    [
      'a line without words that was forgotten among others like it',
      '// The first line.\n//\n// You may obtain a copy at\n// http://example.com/license\n//\n// Unless required by law\n// it is as it is.\n//\n// See there for more.\ncode()\n',
      '// The first line.\n//\n// You may obtain a copy at\n// http://example.com/license\n// Unless required by law\n// it is as it is.\n//\n// See there for more.',
      '// The first line.\n//\n// You may obtain a copy at\n//    https://example.com/license\n//\n// Unless required by law\n// it is as it is.\n// See there for more.',
      'unclear',
    ],
    [
      'printers’ quotes in a new line, where the only line that has them too is stale',
      'Object.defineProperty(exports, "__esModule", {\n  value: true\n});\n',
      'Object.defineProperty(value, “__esModule”, {\n',
      '‘use strict’;\n\nObject.defineProperty(value, “__esModule”, {\n',
      'unclear',
    ],
    [
      'a stale line at the edge, of which the line in its place has nothing',
      '"use strict";\n\n/*\n  Copyright 2018 Example\n\n  More of it.\n*/\n',
      '"use name";\n\n  Copyright 2018 Example',
      '"use name";\n  Copyright 2018 Example',
      'not-found',
    ],
    [
      'an edit that the blank lines of the file undo',
      'import traceback\nfrom gyp.common import GypError\n\n# Default modes\ndebug = {}\n',
      'import traceback\nfrom gyp.common import GypError\n# Default modes\ndebug = {}',
      'import traceback\nfrom gyp.common import GypError\n\n# Default modes\ndebug = {}',
      'unclear',
    ],
    [
      'a new blank line with space in it at the end, from a model that has no space at other ends',
      "'use strict';\n\nmodule.exports = key => {\n  if (key.ctrl) {\n    stop();\n  }\n}\n",
      'module.xports = key => {\n',
      'module.exports = (key, isSelect) => {\n  if (key.meta) return;\n  \n',
      'unclear',
    ],
    [
      'blank lines remembered wrongly, beside a line that changes',
      'if (a) {\n  return url;\n} // If it is wrapped in quotes, remove them\n\n\nif (isQuoted(url)) {\n  cut();\n}\n',
      'if (a) {\n  return url;\n} // If it is wrapped in quotes, remove them\n\nif (isQuoted(url)) {\n',
      'if (b) {\n  return url;\n}\n\nurl = url.x; // If it is wrapped in quotes, remove them\n\nif (isQuoted(url)) {\n',
      'unclear',
    ],
    [
      'a shift known from one depth, and a new line that is two of the file’s steps deeper',
      'function f() {\n    a = null\n    if (b) {\n        c()\n    }\n}\n',
      '          a = null\n          if (b) {\n',
      '          a = null\n          if (b) {\n                  d()\n',
      'unclear',
    ],
    [
      'new lines at a depth that one known depth does not lead to',
      'function f() {\n    one()\n    two()\n}\n',
      '  one()\n  two()',
      '  one()\n  if (x) {\n    three()\n  }\n  two()',
      'unclear',
    ],
    ['a blank line that may be there already', 'a\n\n  bb\n  cc\n', 'bb\ncc', '\nbb\ndd', 'unclear'],
  ]
  for (const [name, text, old, fresh, why] of refused) {
    test(name, () => {
      const edited = applySmartEdit(text, { old, replacement: fresh })
      assert.ok('why' in edited, JSON.stringify(edited))
      assert.equal(edited.why, why)
    })
  }
})

describe('smart_edit makes an exact, unique match, as replace does', () => {
  const cases: readonly (readonly [name: string, text: string, old: string, fresh: string, after: string])[] = [
    [
      'that begins after the indentation of its line',
      'def f():\n    a = 1\n    b = 2\n',
      'a = 1\n    b',
      'if a:\n        x()\n    b',
      'def f():\n    if a:\n        x()\n    b = 2\n',
    ],
    ['of one line, for several', '  a(1)\n', 'a(1)', 'a(1)\n  b(2)\n}', '  a(1)\n  b(2)\n}\n'],
    ['that begins within a word', 'filename = 1\n', 'name = 1', 'path = 2', 'filepath = 2\n'],
    ['whose new text has the line beside it too', 'a()\nb()\nc()\n', 'b()', 'a()\nb()', 'a()\na()\nb()\nc()\n'],
    ['of which another place differs in white space', 'a( 1 )\nlast\na(1)\n', 'a(1)', 'b', 'a( 1 )\nlast\nb\n'],
    ['that takes a blank line out', 'a()\n}\n\nb()\n', '}\n', '},', 'a()\n},\nb()\n'],
  ]
  for (const [name, text, old, fresh, after] of cases) {
    test(name, async () => {
      for (const tool of ['smart_edit', 'replace']) {
        using ws = workspace({ 'a.txt': text })
        await ws.call(tool, { file_path: 'a.txt', instruction: 'x', old_string: old, new_string: fresh })
        assert.equal(ws.read('a.txt'), after, tool)
      }
    })
  }

  test('but the indentation of the first new line is there once', () => {
    const edited = applySmartEdit('  a(1)\n', { old: 'a(1)', replacement: '  b(2)' })
    assert.ok('text' in edited && edited.text === '  b(2)\n')
  })

  test('and whole lines do not grow together', () => {
    const edited = applySmartEdit('a\nb\nc\n', { old: 'b\n', replacement: 'd' })
    assert.ok('text' in edited && edited.text === 'a\nd\nc\n')
  })
})

describe('smart_edit tells what it did', () => {
  const input = { file_path: 'a.ts', instruction: 'rename it' }

  test('how it matched, and which lines', async () => {
    using ws = workspace({ 'a.ts': CODE })
    const path = join(ws.root, 'a.ts')
    const exact = await ws.call('smart_edit', { ...input, old_string: 'this.path = path', new_string: 'this.path = p' })
    assert.equal(exact.content, `Successfully modified file: ${path} (1 replacements). Matched exactly, line 5.`)
    const loose = await ws.call('smart_edit', {
      ...input,
      old_string: '    const lines = []\n    for (const [key, value] of this.items) {\n',
      new_string: '    const lines = [1]\n    for (const [key, value] of this.items) {\n',
    })
    assert.equal(
      loose.content,
      `Successfully modified file: ${path} (1 replacements). Matched with different indentation, lines 19-20.`,
    )
    assert.match(ws.read('a.ts'), /\n\t\tconst lines = \[1\]\n\t\tfor/)
  })

  test('the nearest passage, and how it differs', async () => {
    using ws = workspace({ 'a.ts': CODE })
    const output = await ws.call('smart_edit', {
      ...input,
      old_string:
        'load() {\n  const data = fs.readFileSync(this.path)\n  const rows = data.split("\\n")\n  return rows.length\n}',
      new_string: 'x',
    })
    assert.equal(output.error?.type, 'edit-no-occurrence-found')
    const text = textOf(output)
    assert.match(text, /^old_string was not found in .*a\.ts; nothing was changed\. The nearest passage is lines 9-/)
    assert.match(text, /\tload\(\) \{\n\t\tconst text = fs\.readFileSync\(this\.path, 'utf8'\)\n/)
    assert.match(
      text,
      /\n- {3}const data = fs\.readFileSync\(this\.path\)\n\+ →→const text = fs\.readFileSync\(this\.path, 'utf8'\)\n/,
    )
    assert.equal(ws.read('a.ts'), CODE)
  })

  test('the places, if there are several', async () => {
    using ws = workspace({ a: 'x = 1\ny\nx = 1\n' })
    const output = await ws.call('smart_edit', {
      file_path: 'a',
      instruction: '',
      old_string: 'x = 1',
      new_string: 'x = 2',
    })
    assert.equal(output.error?.type, 'edit-expected-occurrence-mismatch')
    assert.match(
      textOf(output),
      /^old_string matches 2 places in .*a \(exactly\), at lines 1, 3\. Add surrounding lines/,
    )
    const all = await ws.call('smart_edit', {
      file_path: 'a',
      instruction: '',
      old_string: 'x = 1',
      new_string: 'x = 2',
      allow_multiple: true,
    })
    assert.match(textOf(all), /\(2 replacements\)/)
  })

  test('an edit that was made before', async () => {
    using ws = workspace({ a: 'const renamed = compute(input)\n' })
    const output = await ws.call('smart_edit', {
      file_path: 'a',
      instruction: '',
      old_string: 'const original = other(thing)',
      new_string: 'const renamed = compute(input)',
    })
    assert.match(textOf(output), /new_string is in the file already; perhaps the edit was made before\./)
  })
})
