import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { boxedPlace, skipWithoutBox } from './box.ts'

/** Where the program lies, the library that it reads, and what must be on PATH or in a variable for it to be found. */
const INSTALLATIONS = [
  { of: 'conda', program: 'miniconda3/bin/tool', library: 'miniconda3/lib/tool.txt' },
  {
    of: 'an environment of conda that uses its base',
    program: 'miniforge3/envs/x/bin/tool',
    library: 'miniforge3/lib/tool.txt',
    also: ['miniforge3/conda-meta/history', 'miniforge3/envs/x/lib/own.txt'],
  },
  { of: 'nvm', program: '.nvm/versions/node/v20.0.0/bin/tool', library: '.nvm/versions/node/v20.0.0/lib/tool.txt' },
  { of: 'pyenv', program: '.pyenv/shims/tool', library: '.pyenv/versions/3.12/lib/tool.txt' },
  { of: 'cargo', program: '.cargo/bin/tool', library: '.rustup/toolchains/stable/lib/tool.txt' },
  { of: 'Go', program: 'sdk/go1.24/bin/tool', library: 'sdk/go1.24/lib/tool.txt' },
  { of: 'sdkman', program: '.sdkman/candidates/java/21/bin/tool', library: '.sdkman/candidates/java/21/lib/tool.txt' },
  { of: 'a prefix of npm', program: '.npm-global/bin/tool', library: '.npm-global/lib/node_modules/tool/tool.txt' },
  {
    of: 'a link into an installation',
    program: 'apps/tool/bin/tool',
    library: 'apps/tool/lib/tool.txt',
    link: 'bin/tool',
  },
] as const

describe('programs installed in the home folder', { skip: await skipWithoutBox() }, () => {
  for (const { of, program, library, ...more } of INSTALLATIONS) {
    test(`${of}: the program runs with its library, both read-only, and no secret is seen`, async () => {
      using at = boxedPlace()
      const write = (name: string, text: string, mode = 0o644): void => {
        mkdirSync(dirname(join(at.home, name)), { recursive: true })
        writeFileSync(join(at.home, name), text, { mode })
      }
      write(program, `#!/bin/sh\ncat ${join(at.home, library)}\n`, 0o755)
      write(library, 'library read\n')
      write('private/notes.txt', 'canary-notes\n')
      if ('also' in more) for (const name of more.also) write(name, '')
      if ('link' in more) {
        mkdirSync(join(at.home, dirname(more.link)), { recursive: true })
        symlinkSync(join(at.home, program), join(at.home, more.link))
      }
      const bin = dirname(join(at.home, 'link' in more ? more.link : program))
      const before = process.env['PATH']
      process.env['PATH'] = `${bin}:${before}`
      try {
        const { output } = await at.run(
          `tool; echo x 2>/dev/null > ${join(at.home, library)} && echo written; grep -rs canary ${at.home}`,
        )
        assert.equal(output, 'library read\n')
      } finally {
        process.env['PATH'] = before
      }
    })
  }
})
