//! Closing the door: what a worker gives up before it sees the first script.
//!
//! Each layer is asked of the kernel and reported; what this kernel does not have is missing
//! from the list, and `doctor` says so.

use std::collections::BTreeMap;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetStatus, Scope,
};
use rustix::process::{DumpableBehavior, Resource, Rlimit, Signal};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

/// Room for the largest heap that a manifest may ask for, for what the program's allocator reserves of it without
/// using it, and for the program itself.
const ADDRESS_SPACE: u64 = 3 << 30;

/// Gives everything up, for good; returns the layers that hold.
pub(super) fn seal() -> Vec<String> {
    let layers: [(&str, bool); 4] = [
        ("privileges", give_up_privileges()),
        ("rlimits", limit()),
        ("landlock", landlock()),
        ("seccomp", seccomp()),
    ];
    layers.into_iter().filter(|(_, held)| *held).map(|(name, _)| name.to_owned()).collect()
}

/// No new privileges, no core dump or debugger, no life after Pinza.
fn give_up_privileges() -> bool {
    rustix::thread::set_no_new_privs(true).is_ok()
        && rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).is_ok()
        && rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).is_ok()
}

fn limit() -> bool {
    let set = |resource: Resource, value: u64| {
        rustix::process::setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) }).is_ok()
    };
    set(Resource::As, ADDRESS_SPACE)
        && set(Resource::Nofile, 16)
        && set(Resource::Nproc, 0)
        && set(Resource::Core, 0)
        && set(Resource::Memlock, 0)
}

/// Everything that Landlock knows is handled, and nothing is allowed.
fn landlock() -> bool {
    let abi = ABI::V6;
    let sealed = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(abi))
        .and_then(|ruleset| ruleset.handle_access(AccessNet::from_all(abi)))
        .and_then(|ruleset| ruleset.scope(Scope::from_all(abi)))
        .and_then(|ruleset| ruleset.create())
        .and_then(|ruleset| ruleset.restrict_self());
    sealed.is_ok_and(|status| status.ruleset != RulesetStatus::NotEnforced)
}

/// The few calls that an engine with a socket needs; any other ends the process.
fn seccomp() -> bool {
    filter().is_some_and(|program| seccompiler::apply_filter(&program).is_ok())
}

fn filter() -> Option<BpfProgram> {
    let architecture = std::env::consts::ARCH.try_into().ok()?;
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        SYSTEM_CALLS.iter().map(|call| (*call, Vec::new())).collect();
    // Rust asks whether a descriptor is open before it closes one, in builds with assertions.
    let is_open = SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, libc::F_GETFD as u64);
    rules.insert(libc::SYS_fcntl, vec![SeccompRule::new(vec![is_open.ok()?]).ok()?]);
    // An allocator gives what it maps a name.
    let names = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, libc::PR_SET_VMA as u64);
    rules.insert(libc::SYS_prctl, vec![SeccompRule::new(vec![names.ok()?]).ok()?]);
    SeccompFilter::new(rules, SeccompAction::KillProcess, SeccompAction::Allow, architecture)
        .ok()?
        .try_into()
        .ok()
}

const SYSTEM_CALLS: [i64; 30] = [
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_recvfrom,
    libc::SYS_sendto,
    libc::SYS_close,
    libc::SYS_fstat,
    libc::SYS_ppoll,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_getrandom,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_exit_group,
];
