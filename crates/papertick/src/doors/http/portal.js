(() => {
  const form = document.getElementById('form');
  if (!form || !window.fetch) return;
  const problem = document.getElementById('problem');
  const go = document.getElementById('go');
  const networks = document.getElementById('networks');
  let busy = false;

  const say = (text) => {
    problem.textContent = text;
    problem.hidden = !text;
  };

  const done = () => {
    const title = document.createElement('h1');
    title.textContent = 'Connected';
    const text = document.createElement('p');
    text.textContent = 'The clock restarts and joins the network by itself. Go back to your own network and find it there.';
    form.parentElement.replaceChildren(title, text);
  };

  const other = form.elements.namedItem('other');
  other.addEventListener('input', () => {
    other.closest('label').querySelector('input[type=radio]').checked = true;
  });

  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (busy) return;
    const data = new FormData(form);
    const ssid = data.get('ssid') || data.get('other');
    if (!ssid) {
      say('Choose a network first.');
      return;
    }
    busy = true;
    go.disabled = true;
    go.textContent = 'Trying…';
    say('');
    try {
      const answer = await fetch('/save', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ ssid, pw: data.get('pw') }),
      });
      const body = await answer.json();
      if (answer.ok) {
        done();
        return;
      }
      say('That did not work: ' + body.error + '.');
    } catch {
      // Some radios leave the air while they try; the page says afterwards how it ended.
      say('The clock does not answer. Join its network again if your phone has left it, and look again.');
    }
    busy = false;
    go.disabled = false;
    go.textContent = 'Connect';
  });

  const strength = (rssi) => (rssi >= -55 ? 'strong' : rssi >= -67 ? 'good' : rssi >= -78 ? 'fair' : 'weak');

  const show = (list) => {
    const chosen = new FormData(form).get('ssid');
    const last = networks.lastElementChild;
    networks.querySelectorAll('label').forEach((label) => label !== last && label.remove());
    for (const network of list) {
      const label = document.createElement('label');
      const radio = document.createElement('input');
      Object.assign(radio, { type: 'radio', name: 'ssid', value: network.ssid, checked: network.ssid === chosen });
      const name = document.createElement('span');
      name.textContent = network.ssid;
      const about = document.createElement('small');
      about.textContent = strength(network.rssi) + (network.secured ? ' · password' : ' · open');
      label.append(radio, name, about);
      networks.insertBefore(label, last);
    }
  };

  setInterval(async () => {
    if (busy || document.hidden || networks.contains(document.activeElement)) return;
    try {
      const answer = await fetch('/scan');
      if (answer.ok) show(await answer.json());
    } catch {
      // The next look may work.
    }
  }, 10000);
})();
