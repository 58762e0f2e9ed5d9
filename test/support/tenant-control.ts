/** Calls the control of a simulated tenant (`src/simulator/control/`). Returns the JSON of the answer, or nothing. */
export async function control(simulatorUrl: string, method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${simulatorUrl}/control/${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`control/${path}: ${response.status} ${await response.text()}`)
  const text = await response.text()
  return text === '' ? undefined : JSON.parse(text)
}

/** Returns a user token of the simulated tenant. */
export async function tokenFor(simulatorUrl: string, userId: string, scope: string): Promise<string> {
  const answer = (await control(simulatorUrl, 'POST', 'token', { userId, scope })) as { access_token: string }
  return answer.access_token
}
