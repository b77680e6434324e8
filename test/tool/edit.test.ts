import assert from 'node:assert/strict'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { builtinTools } from '../../src/tool/builtin/index.ts'
import type { ApprovalDetails } from '../../src/tool/tool.ts'
import type { JsonObject } from '../../src/model/json.ts'
import { diffOf, textOf, workspace, type Workspace } from './workspace.ts'

function preview(ws: Workspace, name: string, input: JsonObject): Promise<ApprovalDetails> {
  const asked = builtinTools()
    .find(({ spec }) => spec.name === name)
    ?.preview?.(input, ws.context)
  assert.ok(asked)
  return asked
}

describe('write_file', () => {
  test('a new file, with its folders', async () => {
    using ws = workspace()
    const path = join(ws.root, 'a/b/new.txt')
    const output = await ws.call('write_file', { file_path: path, content: 'one\ntwo\n' })
    assert.equal(output.content, `Successfully created and wrote to new file: ${path}.`)
    const { fileDiff, ...rest } = diffOf(output)
    assert.deepEqual(rest, {
      fileName: 'new.txt',
      originalContent: null,
      newContent: 'one\ntwo\n',
      diffStat: { ai_added_lines: 2, ai_removed_lines: 0, user_added_lines: 0, user_removed_lines: 0 },
    })
    assert.match(fileDiff, /^--- new\.txt\tCurrent\n\+\+\+ new\.txt\tProposed\n@@ -0,0 \+1,2 @@\n\+one\n\+two\n$/)
    assert.deepEqual(output.facts, rest.diffStat)
    assert.equal(ws.read('a/b/new.txt'), 'one\ntwo\n')
  })

  test('an existing file', async () => {
    using ws = workspace({ a: 'one\ntwo\nthree\n' })
    const output = await ws.call('write_file', { file_path: 'a', content: 'one\n2\n3\nfour\n' })
    assert.equal(output.content, `Successfully overwrote file: ${join(ws.root, 'a')}.`)
    assert.deepEqual(diffOf(output).diffStat, {
      ai_added_lines: 3,
      ai_removed_lines: 2,
      user_added_lines: 0,
      user_removed_lines: 0,
    })
  })

  test('the person is shown the change before', async () => {
    using ws = workspace({ 'src/a.ts': 'one\n' })
    const asked = await preview(ws, 'write_file', { file_path: 'src/a.ts', content: 'two\n' })
    assert.ok(asked.kind === 'edit')
    const { fileDiff, ...rest } = asked
    assert.match(fileDiff, /-one\n\+two\n/)
    assert.deepEqual(rest, {
      kind: 'edit',
      title: 'Write src/a.ts',
      fileName: 'a.ts',
      filePath: join(ws.root, 'src/a.ts'),
      originalContent: 'one\n',
      newContent: 'two\n',
    })
    assert.equal(ws.read('src/a.ts'), 'one\n')
    const made = await preview(ws, 'write_file', { file_path: 'new', content: 'x' })
    assert.equal(made.title, 'Create new')
  })

  test('what the person was shown is what must be there when it is written', async () => {
    using ws = workspace({ a: 'one\n' })
    await preview(ws, 'write_file', { file_path: 'a', content: 'two\n' })
    ws.file('a', 'somebody else\n')
    const output = await ws.call('write_file', { file_path: 'a', content: 'two\n' })
    assert.equal(output.error?.type, 'file-changed')
    assert.equal(ws.read('a'), 'somebody else\n')
  })
})

describe('replace', () => {
  const run = (ws: Workspace, input: JsonObject) => ws.call('replace', { file_path: 'a', ...input })

  test('one occurrence', async () => {
    using ws = workspace({ a: 'one\ntwo\nthree\n' })
    const output = await run(ws, { old_string: 'two', new_string: '2' })
    assert.equal(output.content, `Successfully modified file: ${join(ws.root, 'a')} (1 replacements).`)
    assert.equal(ws.read('a'), 'one\n2\nthree\n')
    const { diffStat, originalContent, newContent } = diffOf(output)
    assert.deepEqual(diffStat, { ai_added_lines: 1, ai_removed_lines: 1, user_added_lines: 0, user_removed_lines: 0 })
    assert.deepEqual([originalContent, newContent], ['one\ntwo\nthree\n', 'one\n2\nthree\n'])
  })

  test('several, if so many are expected; or any number, in the newer form', async () => {
    using ws = workspace({ a: 'x x x\n' })
    const wrong = await run(ws, { old_string: 'x', new_string: 'y' })
    assert.equal(wrong.error?.type, 'edit-expected-occurrence-mismatch')
    assert.match(
      textOf(wrong),
      /^Expected 1 occurrence\(s\) of old_string in .* but found 3, at lines 1, 1, 1; nothing was changed\.$/,
    )
    assert.equal(ws.read('a'), 'x x x\n')
    assert.match(
      textOf(await run(ws, { old_string: 'x', new_string: 'y', expected_replacements: 3 })),
      /\(3 replacements\)/,
    )
    assert.match(
      textOf(await run(ws, { old_string: 'y', new_string: 'z', allow_multiple: true })),
      /\(3 replacements\)/,
    )
    assert.equal(ws.read('a'), 'z z z\n')
  })

  test('dollar signs are only dollar signs', async () => {
    using ws = workspace({ a: 'price\n' })
    await run(ws, { old_string: 'price', new_string: "$& $1 $$ $' $`" })
    assert.equal(ws.read('a'), "$& $1 $$ $' $`\n")
  })

  test('strict: other white space is not found, and the nearest passage is shown', async () => {
    using ws = workspace({ a: 'function f() {\n\treturn 1\n}\n' })
    const output = await run(ws, { old_string: 'function f() {\n    return 1\n}', new_string: 'x' })
    assert.equal(output.error?.type, 'edit-no-occurrence-found')
    assert.equal(
      textOf(output),
      `Found 0 occurrences of old_string in ${join(ws.root, 'a')}; nothing was changed. The nearest passage is lines 1-3:\n` +
        "function f() {\n\treturn 1\n}\nIt differs there (- yours, + the file's):\n-     return 1\n+ →return 1",
    )
  })

  test('an empty old_string makes a file, but not over one', async () => {
    using ws = workspace({ full: 'x', empty: '' })
    const made = await ws.call('replace', { file_path: 'new', old_string: '', new_string: 'hello' })
    assert.equal(made.content, `Successfully created and wrote to new file: ${join(ws.root, 'new')}.`)
    assert.equal(ws.read('new'), 'hello')
    const full = await ws.call('replace', { file_path: 'full', old_string: '', new_string: 'y' })
    assert.equal(full.error?.type, 'attempt-to-create-existing-file')
    assert.equal(ws.read('full'), 'x')
    assert.equal((await ws.call('replace', { file_path: 'empty', old_string: '', new_string: 'y' })).error, undefined)
  })

  test('refusals change nothing', async () => {
    using ws = workspace({ a: 'one\n' })
    symlinkSync('../outside/secret.txt', join(ws.root, 'link'))
    const cases: readonly (readonly [JsonObject, string])[] = [
      [{ old_string: 'one', new_string: 'one' }, 'edit-no-change'],
      [{ file_path: 'nosuch', old_string: 'x', new_string: 'y' }, 'file-not-found'],
      [{ file_path: '.', old_string: 'x', new_string: 'y' }, 'target-is-directory'],
      [{ file_path: 'link', old_string: 'OUT', new_string: 'y' }, 'path-not-in-workspace'],
      [{ file_path: '../outside/new', old_string: '', new_string: 'y' }, 'path-not-in-workspace'],
      [{ file_path: '', old_string: 'x', new_string: 'y' }, 'invalid-arguments'],
      [{ old_string: 'one', new_string: 'x', expected_replacements: 0 }, 'invalid-arguments'],
      [{ old_string: 'one' }, 'invalid-arguments'],
      [{ old_string: 'one', new_string: '// ... rest of the code unchanged' }, 'placeholder'],
      [{ old_string: 'one', new_string: 'a\nb\n', file_path: 'a/b' }, 'path-is-not-a-directory'],
    ]
    for (const [input, type] of cases) {
      const output = await run(ws, input)
      assert.equal(output.error?.type, type, `${JSON.stringify(input)}: ${textOf(output)}`)
    }
    assert.equal(ws.read('a'), 'one\n')
  })
})

describe('a file that was changed after the model had read it', () => {
  test('is not edited until it is read again', async () => {
    using ws = workspace({ a: 'one\ntwo\n' })
    await ws.call('read_file', { absolute_path: 'a' })
    writeFileSync(join(ws.root, 'a'), 'one\ntwo\nthree\n')
    for (const [name, input] of [
      ['replace', { old_string: 'two', new_string: '2' }],
      ['smart_edit', { old_string: 'two', new_string: '2', instruction: '' }],
      ['write_file', { content: 'x' }],
    ] as const) {
      const output = await ws.call(name, { file_path: 'a', ...input })
      assert.equal(output.error?.type, 'file-changed')
      assert.match(textOf(output), /^The file was changed after you read it\. Read it again, then edit it: /)
    }
    assert.equal(ws.read('a'), 'one\ntwo\nthree\n')
    await ws.call('read_file', { absolute_path: 'a', limit: 1 })
    assert.equal((await ws.call('replace', { file_path: 'a', old_string: 'two', new_string: '2' })).error, undefined)
    assert.equal(
      (await ws.call('replace', { file_path: 'a', old_string: '2', new_string: '3' })).error,
      undefined,
      'its own edit is known',
    )
  })

  test('also by another name', async () => {
    using ws = workspace({ a: 'one\n' })
    symlinkSync('a', join(ws.root, 'link'))
    await ws.call('read_file', { absolute_path: 'link' })
    ws.file('a', 'two\n')
    assert.equal((await ws.call('write_file', { file_path: 'a', content: 'x' })).error?.type, 'file-changed')
  })
})

describe('a proposal that the person changed', () => {
  test('the figures tell the lines of the two apart', async () => {
    using ws = workspace({ a: 'one\ntwo\n' })
    const input = { file_path: 'a', old_string: 'two', new_string: 'TWO\nTHREE\nFOUR' }
    const proposed = { file_path: 'a', old_string: 'two', new_string: 'TWO' }
    const output = await ws.call('replace', input, { modified: true, proposed })
    assert.deepEqual(diffOf(output).diffStat, {
      ai_added_lines: 1,
      ai_removed_lines: 1,
      user_added_lines: 2,
      user_removed_lines: 0,
    })
    assert.match(textOf(output), /\(1 replacements\)\. The user changed new_string to:\nTWO\nTHREE\nFOUR$/)
  })

  test('without the original everything counts as the person’s', async () => {
    using ws = workspace({ a: 'one\n' })
    const output = await ws.call('write_file', { file_path: 'a', content: 'two\n' }, { modified: true })
    assert.deepEqual(diffOf(output).diffStat, {
      ai_added_lines: 0,
      ai_removed_lines: 0,
      user_added_lines: 1,
      user_removed_lines: 1,
    })
  })
})

describe('placeholders for omitted code', () => {
  const placeholders = [
    '// ... rest of the code unchanged ...',
    '// ... existing code ...',
    '# ... rest of the file remains the same',
    '  /* rest of the implementation is unchanged */',
    '<!-- ... existing content ... -->',
    '-- (rest of the methods stay the same)',
    '(rest of code ...)',
    '... rest of the function ...',
    '# existing imports unchanged',
    '{/* ... other components ... */}'.replace('components', 'component code'),
    '// unchanged code',
    '// Remaining methods go here',
    '… rest of the file …',
  ]
  const innocent = [
    'const { a, ...rest } = of',
    'return [...existing, ...other]',
    '// the rest of the world does not matter',
    '// existing users are kept',
    'console.log("... rest of the code unchanged")',
    'The rest of the code is explained in the next chapter.',
    '// Loads the remaining files...',
    '# other tests are in tests/unit',
    '...',
    '# ---',
    '* the remaining lines are counted below',
  ]
  for (const line of placeholders) {
    test(`refused: ${line}`, async () => {
      using ws = workspace({ a: 'one\n' })
      const output = await ws.call('write_file', { file_path: 'a', content: `code()\n${line}\nmore()\n` })
      assert.equal(output.error?.type, 'placeholder')
      assert.match(textOf(output), /omits code/)
      assert.equal(ws.read('a'), 'one\n')
    })
  }
  for (const line of innocent) {
    test(`written: ${line}`, async () => {
      using ws = workspace()
      assert.equal((await ws.call('write_file', { file_path: 'a', content: `code()\n${line}\n` })).error, undefined)
    })
  }

  test('one that the file has already may stay', async () => {
    using ws = workspace({ 'doc.md': 'say:\n// ... existing code ...\nend\n' })
    const output = await ws.call('write_file', {
      file_path: 'doc.md',
      content: 'say:\n// ... existing code ...\nEND\n',
    })
    assert.equal(output.error, undefined)
  })
})
