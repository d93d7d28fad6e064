#!/bin/bash
# One model in eight shards, as an array job, and a job that merges them when all are done:
#
#   bash examples/slurm.sh MODEL [OPTIONS of gendalens run]
#
# Every task of the array answers its part of the requests and stores each batch as it is answered, so a
# task that is killed or requeued resumes. The merge makes the result of one run, byte for byte, if all
# tasks have the same kind of device and the same number of cores. Change the #SBATCH lines to suit
# the cluster; SHARDS and OUT can be set in the environment.
#
# Several models instead of shards: see docs/howto/cluster.md.

#SBATCH --job-name=gendalens
#SBATCH --cpus-per-task=8
#SBATCH --mem=32G
#SBATCH --time=04:00:00
#SBATCH --requeue
# For a graphics card each: #SBATCH --gres=gpu:1

set -eu
model=${1:?which model? bash slurm.sh MODEL [OPTIONS]}
shift
shards=${SHARDS:-8}
out=${OUT:-runs}

# The same on the login node, in the array and in the merge.
export GENDALENS_HOME=${GENDALENS_HOME:-$HOME/gendalens-home}

if [ -n "${SLURM_ARRAY_TASK_ID:-}" ]; then
  # Threads decide how requests are batched, so they are fixed.
  export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-8}
  exec gendalens run "$model" "$@" --offline --shard "$SLURM_ARRAY_TASK_ID/$shards" --out "$out/shards"
fi

mkdir -p "$out"
array=$(sbatch --parsable --array="1-$shards" --output="$out/shard-%a.log" "$0" "$model" "$@")
# If a task fails, the merge is cancelled: submit that task again, and merge by hand.
sbatch --dependency="afterok:${array%%;*}" --kill-on-invalid-dep=yes --cpus-per-task=1 \
  --job-name=gendalens-merge --output="$out/merge.log" \
  --wrap="gendalens merge $(printf %q "$out/shards") --offline --out $(printf %q "$out")"
echo "The result will be in $out; the logs are $out/shard-*.log and $out/merge.log."
