-- One accelerator: model, form factor and memory; one row per chip.
-- grain: chip_id
-- column: chip_id | key, e.g. h100-sxm-80
-- column: chip_name | name for people
-- column: vendor | maker
-- column: architecture | architecture
-- column: form_factor | SXM, PCIe, OAM, NVL72, ...
-- column: memory_gb | memory of one chip in GB
-- column: bandwidth_tb_s | memory bandwidth in TB/s
-- column: fp8_dense_tflops | dense FP8 TFLOPS
-- column: fp4_dense_tflops | dense FP4 TFLOPS
-- column: tdp_w | power of one chip in W
-- column: scale_up_domain | most chips that one interconnect domain holds
-- column: node_gpu_count | chips of one full node as rented
-- column: launched | launch date as precisely as the source states it
-- column: source | where the figures come from; an unsourced figure is null
-- column: note | conflicts and remarks
with

chips as (
    select * from raw.chip
)

select
    chip_id,
    chip_name,
    vendor,
    architecture,
    form_factor,
    memory_gb,
    bandwidth_tb_s,
    fp8_dense_tflops,
    fp4_dense_tflops,
    tdp_w,
    scale_up_domain,
    node_gpu_count,
    launched,
    source,
    note,
from chips
