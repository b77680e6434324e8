import { saveFolderTrust } from '../../src/cli/config/folder-trust.ts'
import { updateUserConfig } from '../../src/cli/config/update-settings.ts'
import { openCredentialFile } from '../../src/agent/user-files/credential-file.ts'

/** Changes the settings some times, or writes one thing, then the other, until it is killed. */
export function act(what: string, name: string, times: number): void {
  if (what === 'change') for (let time = 0; time < times; time++) allow(`tool_${name}_${time}`)
  else writeOnAndOn()
}

function allow(rule: string): void {
  updateUserConfig(({ policy, ...config }) => ({ ...config, policy: { allow: [...(policy?.allow ?? []), rule] } }))
}

function writeOnAndOn(): never {
  const keys = openCredentialFile()
  const isFirst = keys.get('openai') === undefined
  if (isFirst) {
    keys.set('gemini', { kind: 'key', key: 'kept' })
    updateUserConfig(() => ({ policy: { allow: ['kept'] } }))
  } else process.stdout.write('ready\n')
  for (let time = 0; ; time++) {
    const word = `${time % 2 === 0 ? 'old' : 'new'}-${LONG}`
    updateUserConfig((config) => ({ ...config, model: `a/${word}` }))
    saveFolderTrust(process.cwd(), time % 2 === 0)
    keys.set('openai', { kind: 'key', key: word })
    if (time === 0 && isFirst) process.stdout.write('ready\n')
  }
}

const LONG = 'x'.repeat(20_000)
