import { agent, jsonlStore, type Model, tool } from 'dragoman'

/** An agent whose dangerous tool waits for a yes, which may come from another process, hours later. */
export function createDeployer(model: string | Model, folder: string, session?: string) {
  const deploy = tool({
    name: 'deploy',
    description: 'Deploys a version.',
    parameters: { type: 'object', properties: { version: { type: 'string' } }, required: ['version'] },
    execute: ({ version }) => `Deployed ${version}.`,
  })
  const store = jsonlStore(folder)
  return agent({ model, tools: [deploy], store, session })
}

/** The first process: works until a call needs approval. Returns the session. */
export async function start(model: string | Model, folder: string, prompt: string): Promise<string> {
  const deployer = createDeployer(model, folder)
  const { session, finish, pending } = await deployer.run(prompt)
  console.log(finish, pending.map(({ tool: name }) => name).join())
  await deployer.close()
  return session
}

/** The second process, after the user has decided: answers, and continues. The approved call runs once. */
export async function decide(
  model: string | Model,
  folder: string,
  session: string,
  approved: boolean,
): Promise<string> {
  const deployer = createDeployer(model, folder, session)
  for (const { id } of await deployer.pending) await deployer.reply(id, approved)
  const { text } = await deployer.resume()
  await deployer.close()
  return text
}
