// v8: another engine runs here; copies can be made, heaps cannot be seen.
"use strict";

const { stubs } = require("internal/errors");

module.exports = {
  cachedDataVersionTag: () => 0,
  getHeapStatistics: () => ({
    total_heap_size: 32 << 20, total_heap_size_executable: 0, total_physical_size: 32 << 20, total_available_size: 128 << 20, used_heap_size: 16 << 20, heap_size_limit: 128 << 20,
    malloced_memory: 0, peak_malloced_memory: 0, does_zap_garbage: 0, number_of_native_contexts: 1, number_of_detached_contexts: 0, total_global_handles_size: 0, used_global_handles_size: 0, external_memory: 0,
  }),
  getHeapSpaceStatistics: () => [],
  getHeapCodeStatistics: () => ({ code_and_metadata_size: 0, bytecode_and_metadata_size: 0, external_script_source_size: 0, cpu_profiler_metadata_size: 0 }),
  startupSnapshot: { isBuildingSnapshot: () => false, addSerializeCallback: () => {}, addDeserializeCallback: () => {}, setDeserializeMainFunction: () => {} },
};
stubs("v8", [
  "getHeapSnapshot", "setFlagsFromString", "Serializer", "Deserializer", "DefaultSerializer", "DefaultDeserializer", "serialize", "deserialize",
  "takeCoverage", "stopCoverage", "writeHeapSnapshot", "queryObjects", "setHeapSnapshotNearHeapLimit", "GCProfiler", "promiseHooks",
  "isStringOneByteRepresentation",
], module.exports);
