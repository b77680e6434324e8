import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { insertDroppedFiles } from '../../src/cli/tui/mention/dropped-files.ts'
import { applyEditorEdit, EMPTY_EDITOR } from '../../src/cli/tui/input/text-editor.ts'
import { formatMention, findMentions } from '../../src/cli/tui/mention/mentions.ts'
import { clearAway } from '../support/clear.ts'

const place = mkdtempSync(join(tmpdir(), 'dragoman-dropped-'))
after(() => clearAway(place))
for (const name of ['a.png', 'my shot.JPG', 'it’s "so".gif', 'notes.txt']) writeFileSync(join(place, name), 'x')

/** What stands in the input after a paste behind “see ”. */
function pasted(text: string, folder = place): string {
  const before = applyEditorEdit(EMPTY_EDITOR, { do: 'insert', text: 'see ' })
  return insertDroppedFiles(applyEditorEdit(before, { do: 'insert', text, paste: true }), text, folder).text
}

describe('files that are dropped on the terminal', () => {
  const cases: [text: string, shown: string][] = [
    [`${place}/a.png`, 'see @a.png '],
    [`${place}/a.png `, 'see @a.png '],
    [`'${place}/a.png' `, 'see @a.png '],
    [`"${place}/my shot.JPG"`, 'see @"my shot.JPG" '],
    [`${place}/my\\ shot.JPG `, 'see @"my shot.JPG" '],
    [`${place}/my shot.JPG`, 'see @"my shot.JPG" '],
    [pathToFileURL(join(place, 'my shot.JPG')).href, 'see @"my shot.JPG" '],
    [`'${place}/a.png' '${place}/my shot.JPG' `, 'see @a.png @"my shot.JPG" '],
  ]
  for (const [text, shown] of cases) test(text.replaceAll(place, ''), () => assert.equal(pasted(text), shown))

  test('from elsewhere the whole path is named', () =>
    assert.equal(pasted(`${place}/a.png`, '/'), `see @${place.slice(1)}/a.png `))

  for (const text of [
    `${place}/notes.txt`,
    `${place}/missing.png`,
    'a.png',
    '/a.png and more words',
    `${place}/a.png is broken`,
    `${place}/a.png\n${place}/a.png`,
    `${place}/it’s "so".gif`,
    'file://%zz.png',
    "'",
    '',
  ])
    test(`is only text: ${JSON.stringify(text.replaceAll(place, ''))}`, () => assert.equal(pasted(text), `see ${text}`))

  test('one step of undo brings the path back', () => {
    const text = `${place}/a.png`
    const editor = insertDroppedFiles(applyEditorEdit(EMPTY_EDITOR, { do: 'insert', text, paste: true }), text, place)
    assert.equal(applyEditorEdit(editor, { do: 'undo' }).text, text)
  })
})

test('names with spaces are mentioned in quotes, and found again', () => {
  const names = ['a.png', 'my shot.png', 'src/x y/z.ts']
  assert.deepEqual(findMentions(`look at ${names.map(formatMention).join(' and ')}, a@b.c`), [
    'a.png',
    'my shot.png',
    'src/x y/z.ts',
  ])
  assert.deepEqual(findMentions('@a\n@b @"" @'), ['a', 'b'])
})
