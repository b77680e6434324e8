import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../support/paths.ts'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')

test('the entry for the registry names this version of the package, and has its icon', () => {
  const entry = JSON.parse(read('docs/registry-entry.json')) as Record<string, unknown>
  const { name, version, license } = JSON.parse(read('package.json')) as Record<string, string>
  assert.match(String(entry['id']), /^[a-z][a-z0-9-]*$/)
  assert.deepEqual([entry['version'], entry['license']], [version, license])
  assert.deepEqual(entry['distribution'], { npx: { package: `${name}@${version}`, args: ['acp'] } })
  assert.ok(String(entry['name']) !== '' && String(entry['description']) !== '')
  // The registry takes icons of this size, in the colour of the editor.
  const icon = read('docs/registry-icon.svg')
  assert.match(icon, /viewBox="0 0 16 16"/)
  assert.match(icon, /currentColor/)
  assert.doesNotMatch(icon, /#[0-9a-f]{3,8}\b|rgb\(/i)
})
