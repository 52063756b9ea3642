#!/bin/bash
# Usage: bash tests/page.sh PROGRAM [SCREENSHOT.png]
# Opens a page of `strake view --html` in headless Chromium, which it installs where it is missing: moves
# the slider, points at a cell, plays, and compares what the page then says with the output files.
set -eu
program=$(realpath "$1")
shot=${2:+$(realpath -m "$2")}
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ]; then
    sudo=$([ "$(id -u)" -eq 0 ] || echo sudo)
    $sudo apt-get update -qq && $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null
    browser=$(command -v chromium)
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >case.yaml <<'CASE'
problem: mpdata2d
grid: {rows: 60, cols: 90}
time: {dt: 0.1, steps: 100}
fields: {psi: {gaussian: {center: [30, 30], sigma: 8, height: 4, base: 0}}, u1: {constant: 0}, u2: {constant: 0.5}, h: {constant: 1}}
output: {every: 10, fields: [psi]}
CASE
"$program" run case.yaml --on serial --quiet --output out
"$program" view out --html page.html
# What a person does, at the end of a copy of the page; what it then says goes into an attribute.
cat >drive.js <<'JS'
<script>
const said = [];
by("slider").value = 4; by("slider").oninput(); said.push(by("when").textContent);
const box = by("picture").getBoundingClientRect();
by("picture").onmousemove({clientX: box.left + box.width * 55.5 / 90, clientY: box.top + box.height * 30.5 / 60});
said.push(by("value").textContent);
by("play").onclick();
setTimeout(() => { by("play").onclick(); said.push(by("when").textContent); document.body.dataset.said = said.join("|"); }, 500);
</script></body>
JS
sed -e '/<\/body>/{r drive.js' -e 'd}' page.html >drive.html
"$browser" --headless --no-sandbox --disable-gpu --window-size=1000,900 --virtual-time-budget=4000 \
    --dump-dom "file://$work/drive.html" 2>/dev/null >dom.html
said=$(grep -o 'data-said="[^"]*"' dom.html | sed 's/data-said="//; s/"$//')
echo "the page says: $said"
# Row 30, column 55 of step 50, at its place behind the header of 128 bytes, as the page rounds it.
value=$(od -An -tf8 -j $((128 + 8 * (30 * 90 + 55))) -N 8 out/psi_00000050.npy | awk '{ printf "%.4g", $1 }')
shown=$(echo "$said" | sed 's/.*row 30, column 55: \([^|]*\)|.*/\1/' | awk '{ printf "%.4g", $1 }')
if [ -n "$shot" ]; then
    "$browser" --headless --no-sandbox --disable-gpu --window-size=1000,900 --virtual-time-budget=4000 \
        --screenshot="$shot" "file://$work/drive.html" >/dev/null 2>&1
    echo "picture: $shot"
fi
case $said in
    "step 50, 5 s|row 30, column 55: "*"|step "[67]"0, "*) ;;
    *) echo 'check-page: slider, pointer or play does not work'; exit 1 ;;
esac
[ "$value" = "$shown" ] || { echo "check-page: the file has $value, the page says $shown"; exit 1; }
echo 'check-page: slider, value under the pointer and play work'
