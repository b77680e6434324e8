import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sortModelsNewestFirst } from '../../src/provider/sort-models.ts'

describe('names of models, the newest first', () => {
  const ORDERS: [what: string, usual: string | undefined, wanted: string[]][] = [
    [
      'by version',
      'gpt-6-b',
      ['gpt-6-b', 'gpt-6-a', 'gpt-5.4', 'gpt-5', 'gpt-4.1', 'gpt-4o', 'gpt-oss-120b', 'o3', 'o1'],
    ],
    [
      'the kin of the usual one',
      'gemini-3',
      ['gemini-3', 'gemini-2.5', 'gemini-pro', 'claude-5', 'claude-4-5', 'claude-4-0'],
    ],
    ['sizes and dates are no versions', 'm-latest', ['m-latest', 'm-3-1', 'm-2', 'm-7b', 'm-8x7b', 'm-large-2512']],
    ['maker by maker', 'z/auto', ['z/auto', 'a/x-2', 'a/x-1', 'b95/y-3', 'b95/y-2']],
    ['none is usual', undefined, ['q-3', 'q-2']],
  ]
  for (const [what, usual, wanted] of ORDERS)
    test(what, () => {
      const given = wanted.toSorted()
      assert.deepEqual(sortModelsNewestFirst(given, usual), wanted)
    })
})
