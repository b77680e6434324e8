import { callFirst, type Client, type ClientModel } from '../client.ts'

const SHELL = { cmd: 'cat a.txt' }

export const codex: Client = {
  id: 'codex',
  title: 'Codex',
  package: '@openai/codex',
  program: 'bin/codex.js',
  node: 16,
  quietEnv: {},
  // Its sandbox does not start from a temporary home folder.
  runPrompt: (prompt) => ['exec', '--skip-git-repo-check', '--sandbox', 'danger-full-access', prompt],
  models: [
    // A model of its catalogue declares its tools inside the input, in namespaces; any other one in `tools`.
    createModel('gpt-6-sol', {
      when: { turns: 0 },
      say: 'I read the file.',
      call: [{ name: 'exec_command', args: SHELL }],
    }),
    createModel('other-model', callFirst('exec_command', SHELL)),
  ],
}

function createModel(model: string, readFile: ClientModel['readFile']): ClientModel {
  return {
    wire: 'openai-responses',
    model,
    setUp: ({ url, key, model: name }) => ({
      env: { DRAGOMAN_CLIENT_KEY: key },
      args: ['-c', `model=${JSON.stringify(name)}`],
      files: { '.codex/config.toml': createConfig(url) },
    }),
    readFile,
  }
}

function createConfig(url: string): string {
  return `model_provider = "dragoman"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
apps = false
plugins = false
[model_providers.dragoman]
name = "dragoman"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "DRAGOMAN_CLIENT_KEY"
supports_websockets = false
`
}
