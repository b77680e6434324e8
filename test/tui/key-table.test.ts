import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyEditorEdit, EMPTY_EDITOR } from '../../src/cli/tui/input/text-editor.ts'
import { handleKey } from '../../src/cli/tui/input/handle-key.ts'
import { KEY_GROUPS } from '../../src/cli/tui/slash/keys.ts'
import { createUiState, type UiState } from '../../src/cli/tui/ui-state.ts'

const NAMES = [
  ...'abcdefghijklmnopqrstuvwxyz_'.split(''),
  'home',
  'end',
  'left',
  'right',
  'backspace',
  'delete',
] as const

/** Something is written, something was cut and something undone, so that every edit has something to do. */
const WRITTEN: UiState = {
  ...createUiState({ model: 'm', mode: 'default', folder: '~' }),
  editor: [
    { do: 'insert', text: 'one two three' } as const,
    { do: 'cut', to: 'word-left' } as const,
    { do: 'insert', text: 'more words' } as const,
    { do: 'undo' } as const,
    { do: 'place', cursor: 5, column: 5 } as const,
  ].reduce(applyEditorEdit, EMPTY_EDITOR),
}

/** What the table names, in Basics and Editing. */
const listed = KEY_GROUPS.filter(({ title }) => title === 'Basics' || title === 'Editing')
  .flatMap(({ keys }) => keys.flat())
  .flatMap((text) => text.match(/\b(?:Ctrl|Alt)-(?:[A-Za-z]+|_)/g) ?? [])
  .map((key) => key.toLowerCase())

for (const modifier of ['ctrl', 'alt'] as const)
  test(`${modifier}: the table of keys names those that do something in the input, and no others`, () => {
    const working = NAMES.filter((name) => {
      const { state, actions = [] } = handleKey(WRITTEN, { type: 'key', name, [modifier]: true } as Parameters<
        typeof handleKey
      >[1])
      return actions.length > 0 || JSON.stringify(state) !== JSON.stringify(WRITTEN)
    }).map((name) => `${modifier}-${name}`)
    const named = new Set(listed.filter((key) => key.startsWith(modifier) && !key.endsWith('enter')))
    assert.deepEqual([...named].toSorted(), working.toSorted())
  })
