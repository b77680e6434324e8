import type { JsonObject } from '../../model/json.ts'
import type { Tool, ToolContext } from '../define.ts'
import { exactPlaces, lineAt } from '../edit/locate.ts'
import { nearestPassage } from '../edit/nearest.ts'
import { builtin } from './support/builtin.ts'
import { changeTool, type Change } from './support/change.ts'
import { flagIn, numberIn, textIn } from './support/input.ts'
import { absolute, touching } from './support/paths.ts'
import { type Refusal, refuse } from './support/propose.ts'
import text from './replace.md'

const EDIT = { filePath: 'file_path', oldString: 'old_string', newString: 'new_string', replaceAll: 'allow_multiple' }

/** Replaces text that occurs word for word. */
export const replace: Tool = builtin({
  name: 'replace',
  text,
  kind: 'edit',
  aliases: { absolute_path: 'file_path', path: 'file_path' },
  nameAliases: [
    { name: 'Edit', parameters: { replace_all: 'allow_multiple' } },
    { name: 'edit', parameters: EDIT },
    { name: 'replace_string_in_file', parameters: EDIT },
    { name: 'search_replace', parameters: {} },
    { name: 'MultiEdit' },
    { name: 'multiedit' },
    { name: 'str_replace_editor' },
    { name: 'str_replace_based_edit_tool' },
    { name: 'replace_in_file' },
  ],
  properties: {
    file_path: { type: 'string', description: 'Absolute path of the file.' },
    old_string: { type: 'string', description: 'The text to replace.' },
    new_string: { type: 'string', description: 'What to put there.' },
    expected_replacements: { type: 'number', description: 'How often old_string occurs; default 1.' },
  },
  required: ['file_path', 'old_string', 'new_string'],
  effects: (input, folders) => touching('write', absolute(textIn(input, 'file_path'), folders)),

  check(input) {
    if (textIn(input, 'file_path').trim() === '') return 'file_path must not be empty.'
    const expected = numberIn(input, 'expected_replacements') ?? 1
    return Number.isInteger(expected) && expected > 0 ? undefined : 'expected_replacements must be 1 or more.'
  },

  ...changeTool(replaceIn),
})

function replaceIn(current: string, input: JsonObject, path: string, _context: ToolContext): Change | Refusal {
  const old = textIn(input, 'old_string').replaceAll('\r\n', '\n')
  const fresh = textIn(input, 'new_string').replaceAll('\r\n', '\n')
  const places = exactPlaces(current, old)
  if (places.length === 0) {
    const near = nearestPassage(current, old)
    const message = `Found 0 occurrences of old_string in ${path}; nothing was changed.`
    return refuse(near === undefined ? message : `${message} ${near}`, 'edit-no-occurrence-found')
  }
  const expected = numberIn(input, 'expected_replacements') ?? 1
  // The newer form of the same parameter does not say how many.
  const isAny = flagIn(input, 'allow_multiple', false)
  if (!isAny && places.length !== expected) {
    const lines = places.slice(0, 20).map((at) => lineAt(current, at) + 1)
    const found = `found ${places.length}, at line${places.length === 1 ? '' : 's'} ${lines.join(', ')}`
    const message = `Expected ${expected} occurrence(s) of old_string in ${path} but ${found}; nothing was changed.`
    return refuse(message, 'edit-expected-occurrence-mismatch')
  }
  return { text: current.split(old).join(fresh), count: places.length }
}
