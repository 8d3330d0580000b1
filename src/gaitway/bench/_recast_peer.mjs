// Recast itself on a level: build time, reachability and lengths of queries, as JSON on standard output.
// Input: a JSON file with vertices (Y up), triangles, queries and limits; see bench/levels.py.
import { readFileSync } from 'fs';
import { init, NavMeshQuery } from '@recast-navigation/core';
import { generateSoloNavMesh } from '@recast-navigation/generators';

await init();
const { vertices, triangles, queries, rounds, cell, limits } = JSON.parse(readFileSync(process.env.LEVEL, 'utf8'));
const ch = cell * 2 / 3;
const config = {
  cs: cell, ch,
  walkableSlopeAngle: limits.slope, walkableHeight: Math.ceil(limits.headroom / ch),
  walkableClimb: Math.floor(limits.step / ch), walkableRadius: Math.ceil(limits.radius / cell),
  maxEdgeLen: 12 / cell, maxSimplificationError: 1.3, minRegionArea: 8, mergeRegionArea: 20, maxVertsPerPoly: 6,
  detailSampleDist: 6, detailSampleMaxError: 1,
};
const points = new Float32Array(vertices), corners = new Uint32Array(triangles), build = [];
let mesh;
for (let k = 0; k < rounds; k++) {
  const began = performance.now();
  const made = generateSoloNavMesh(points, corners, config);
  build.push(performance.now() - began);
  if (!made.success) { console.log(JSON.stringify({ error: made.error })); process.exit(0); }
  mesh = made.navMesh;
}
const query = new NavMeshQuery(mesh), answers = [];
for (const [ax, ay, az, bx, by, bz] of queries) {
  const from = { x: ax, y: ay, z: az }, to = { x: bx, y: by, z: bz };
  const began = performance.now();
  const found = query.computePath(from, to, { halfExtents: { x: 2, y: 4, z: 2 } });
  const ms = performance.now() - began, way = found.path ?? [];
  let length = 0;
  for (let k = 1; k < way.length; k++)
    length += Math.hypot(way[k].x - way[k - 1].x, way[k].y - way[k - 1].y, way[k].z - way[k - 1].z);
  const begin = way[0], end = way.at(-1), off = end ? Math.hypot(end.x - bx, end.z - bz) : Infinity;
  // a point on no polygon is moved to the nearest one, which may be another floor
  const meant = end && Math.abs(begin.y - ay) < limits.step && Math.abs(end.y - by) < limits.step;
  answers.push({ reached: found.success && meant && off < 0.5, length, ms });
}
console.log(JSON.stringify({ build, answers }));
