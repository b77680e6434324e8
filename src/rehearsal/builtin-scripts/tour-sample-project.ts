/** The scratch project of the tour, by path. Its one test fails. */
export function createTourProject(): Record<string, string> {
  return {
    'README.md': README_TEXT,
    'package.json': `${JSON.stringify(PACKAGE_MANIFEST, null, 2)}\n`,
    'sum.js': SUM_SOURCE,
    'sum.test.js': TEST_SOURCE,
  }
}

const README_TEXT = `# sum

Adds two numbers. This is the scratch project of Dragoman's tour; delete it whenever you like.

    npm test
`

const PACKAGE_MANIFEST = {
  name: 'sum',
  version: '1.0.0',
  private: true,
  type: 'module',
  scripts: { test: 'node --test' },
}

const SUM_SOURCE = `/** The sum of two numbers. */
export function sum(a, b) {
  return a - b
}
`

const TEST_SOURCE = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sum } from './sum.js'

test('sum adds', () => {
  assert.equal(sum(2, 3), 5)
})
`
