import { agent, type Model } from 'dragoman'

/** A subagent, a handoff, and five switches between the models of four vendors in one session. */
export async function main(models: { gemini: Model; openai: Model; anthropic: Model; groq: Model }) {
  const researcher = agent({ model: models.gemini, name: 'researcher', description: 'Looks things up.' })
  const billing = agent({ model: models.groq, name: 'billing', description: 'Handles refunds.' })
  const desk = agent({
    model: models.anthropic,
    instructions: 'Research first. Hand refunds over to billing.',
    tools: [researcher.asTool()],
    handoffs: [billing],
  })
  const answers = [(await desk.run('Which plan do I have?')).text]
  for (const model of [models.openai, models.gemini, models.groq, models.anthropic, models.openai])
    answers.push((await desk.run('And now?', { model })).text)
  const { text, usage } = await desk.run('Refund me.', { model: models.anthropic })
  await desk.close()
  return { answers, text, usage }
}
