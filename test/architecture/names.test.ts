import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../support/paths.ts'

/** Words of an earlier vocabulary that no reader could look up. None is the whole name of an export, a file or a folder. */
const FORMER = `
  letter post lane gone converse correspond delivered deliver port sending speech means row facts family target scribe slot
  sighting marks late lesson habit pulse felt heard carryout takeup spill mint book judging firm crowd grip keep look reach
  endwithus hindrance shutin press deed desk talk front bangs mouthful bites silence ward clinic visit sight eyes own line
  tape complaint wrong doubt refusal problem place folder visible
`
  .trim()
  .split(/\s+/)

const EXPORT = /^export (?:async )?(?:function\*?|const|interface|type|class) (\w+)/gm

test('exports, files and folders have names of the field', () => {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  )
  const names = files.flatMap((path) => [
    ...path.split('/').map((part) => part.replace(/\.ts$/, '')),
    ...[...readFileSync(join(root, 'src', path), 'utf8').matchAll(EXPORT)].map(([, name = '']) => name),
  ])
  assert.ok(names.length > 2000)
  const former = names.filter((name) => FORMER.includes(name.toLowerCase().replaceAll(/[_-]/g, '')))
  assert.deepEqual([...new Set(former)], [])
})
