import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { resolveEditorCommand, openInEditor } from '../../src/cli/external-editor.ts'
import { clearAway } from '../support/clear.ts'

describe('which editor, and with which arguments', () => {
  const cases: readonly (readonly [wish: string | undefined, env: NodeJS.ProcessEnv, words: readonly string[]])[] = [
    [undefined, {}, ['vi']],
    [undefined, { EDITOR: 'nano' }, ['nano']],
    [undefined, { EDITOR: 'nano', VISUAL: 'vim -n' }, ['vim', '-n']],
    ['emacs -nw', { VISUAL: 'vim' }, ['emacs', '-nw']],
    ['', { VISUAL: '  ', EDITOR: 'ed' }, ['ed']],
    ['code', {}, ['code', '--wait']],
    ['code -w', {}, ['code', '-w']],
    ['code --wait --new-window', {}, ['code', '--wait', '--new-window']],
    ['/usr/local/bin/subl -n', {}, ['/usr/local/bin/subl', '-n', '--wait']],
    ['gvim', {}, ['gvim', '--nofork']],
    ['kate', {}, ['kate', '--block']],
    ['"/opt/My Editor/edit" --flag \'a b\'', {}, ['/opt/My Editor/edit', '--flag', 'a b']],
    ['vim; touch owned $(touch owned)', {}, ['vim;', 'touch', 'owned', '$(touch', 'owned)']],
  ]
  for (const [wish, env, words] of cases) {
    test(`${wish ?? 'nothing'} with ${JSON.stringify(env)}`, () =>
      assert.deepEqual(resolveEditorCommand(wish, env), words))
  }
})

describe('a text in an editor', () => {
  /** An editor of two lines: it notes what it was given, and writes something. */
  function editor(body: string): { wish: string; noted: () => string; [Symbol.dispose](): void } {
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-editor-'))
    const [script, note] = [join(folder, 'editor.mjs'), join(folder, 'note')]
    writeFileSync(
      script,
      `import { appendFileSync, statSync, writeFileSync } from 'node:fs'\nimport { dirname } from 'node:path'\n` +
        `const path = process.argv.at(-1)\nconst mode = (one) => (statSync(one).mode & 0o777).toString(8)\n` +
        `appendFileSync(${JSON.stringify(note)}, [path, mode(path), mode(dirname(path))].join(' '))\n${body}\n`,
    )
    return {
      wish: `"${process.execPath}" "${script}"`,
      noted: () => readFileSync(note, 'utf8'),
      [Symbol.dispose]: () => clearAway(folder),
    }
  }

  test('comes back as the person left it; nobody else can read it, and nothing is left behind', async () => {
    using own = editor("appendFileSync(path, 'more\\n')")
    assert.deepEqual(await openInEditor('text\n', 'src/a.ts', own.wish), { text: 'text\nmore\n' })
    const [path = '', file, folder] = own.noted().split(' ')
    assert.match(path, /\/a\.ts$/)
    assert.deepEqual([file, folder], ['600', '700'])
    assert.ok(!existsSync(path))
  })

  test('is not taken over if the editor fails, or is not there', async () => {
    using own = editor("writeFileSync(path, 'half'); process.exit(1)")
    const failed = await openInEditor('text\n', 'a.ts', own.wish)
    assert.ok('problem' in failed && failed.problem.includes('nothing was changed'))
    const missing = await openInEditor('text\n', 'a.ts', '/nowhere/editor')
    assert.ok('problem' in missing && missing.problem.includes('/nowhere/editor'))
  })
})
