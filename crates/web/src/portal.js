(() => {
  const form = document.getElementById('form');
  if (!form || !window.fetch) return;
  const problem = document.getElementById('problem');
  const go = document.getElementById('go');
  const networks = document.getElementById('networks');
  let busy = false;

  const texts = form.dataset;

  const show = document.getElementById('show');
  show.parentElement.hidden = false;
  show.addEventListener('change', () => {
    form.elements.namedItem('pw').type = show.checked ? 'text' : 'password';
  });

  const say = (text) => {
    problem.textContent = text;
    problem.hidden = !text;
    if (text) problem.scrollIntoView({ block: 'center' });
  };

  const done = (ip) => {
    const content = document.getElementById('done').content;
    if (ip) {
      const place = content.querySelector('[data-ip]');
      const address = document.createElement('b');
      address.textContent = `${location.protocol}//${ip.includes(':') ? `[${ip}]` : ip}${place.dataset.ip}/`;
      place.replaceChildren(address);
    }
    form.parentElement.replaceChildren(content);
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
      say(texts.choose);
      return;
    }
    busy = true;
    go.disabled = true;
    const connect = go.textContent;
    go.textContent = texts.trying;
    say('');
    try {
      const answer = await fetch(form.action, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ ssid, pw: data.get('pw'), display: data.get('display') }),
      });
      const body = await answer.json();
      if (answer.ok) {
        done(body.ip);
        return;
      }
      say(texts.failed.replace('{why}', body.error));
    } catch {
      // Some radios leave the air while they try; the page says afterwards how it ended.
      say(texts.away);
    }
    busy = false;
    go.disabled = false;
    go.textContent = connect;
  });

  const strength = (rssi) => (rssi >= -55 ? texts.strong : rssi >= -67 ? texts.good : rssi >= -78 ? texts.fair : texts.weak);

  const showNetworks = (list) => {
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
      about.textContent = strength(network.rssi) + ' · ' + (network.secured ? texts.secured : texts.open);
      label.append(radio, name, about);
      networks.insertBefore(label, last);
    }
  };

  setInterval(async () => {
    if (busy || document.hidden || networks.contains(document.activeElement)) return;
    try {
      const answer = await fetch('/scan');
      if (answer.ok) showNetworks(await answer.json());
    } catch {
      // The next look may work.
    }
  }, 10000);
})();
