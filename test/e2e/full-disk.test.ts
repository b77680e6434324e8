import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { dragoman, stage } from '../support/command.ts'
import { preload } from '../support/preload.ts'

describe('a disk that is full when a session begins', () => {
  const codes = { ENOSPC: /disk is full/i, EDQUOT: /quota is used up/i }
  for (const [code, words] of Object.entries(codes))
    test(`${code}: one sentence, and no advice to go on with what is not there`, async () => {
      // Each of the first writes under the home folder fails in turn: of folders, the lock, the first lines.
      for (let first = 1; first <= 7; first++) {
        const here = await stage([{ say: 'Hello.' }])
        const breaks = `let count = 0
          const paths = new Map()
          const open = fs.openSync
          fs.openSync = (path, ...rest) => {
            const handle = open(path, ...rest)
            paths.set(handle, String(path))
            return handle
          }
          const fail = (name, pathOf) => {
            const real = fs[name]
            fs[name] = (...args) => {
              if (String(pathOf(args[0])).includes('/sessions/') && ++count >= ${first})
                throw Object.assign(new Error('${code}: played, write'), { code: '${code}' })
              return real(...args)
            }
          }
          fail('writeSync', (handle) => paths.get(handle))
          fail('writeFileSync', (path) => path)
          fail('mkdirSync', (path) => path)`
        const ended = await dragoman(['-p', 'hi'], { ...here, env: { ...here.env, ...preload(breaks) } })
        if (ended.code === 0) continue
        assert.match(ended.err, words, `write ${first}`)
        assert.equal(ended.err.trim().split('\n').length, 1, ended.err)
        if (first <= 4) assert.doesNotMatch(ended.err, /--resume/, `write ${first}: nothing was said yet`)
      }
    })
})
