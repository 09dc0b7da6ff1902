// A plugin in Rust over the bindings that bindgen generates from the C headers: the operator rusty::twice with its
// shape rule, a kernel for the CPU and a derivative as a rule, and a second operator whose kernel calls the first one.
// The test has bindgen write bindings.rs.
#![allow(non_camel_case_types, non_upper_case_globals, non_snake_case, dead_code)]

mod bindings {
    include!("bindings.rs");
}
use bindings::*;
use std::ffi::CString;
use std::mem::size_of;
use std::os::raw::{c_char, c_void};
use std::ptr::{null, null_mut};

// The stamp, which the loader reads from the file: see docs/abi.md.
#[repr(C, align(4))]
pub struct Stamp {
    sizes: [u32; 3],
    name: [u8; 8],
    version: [u32; 2],
}
#[used]
#[link_section = ".note.lamella"]
pub static STAMP: Stamp = Stamp {
    sizes: [8, 8, 1],
    name: *b"Lamella\0",
    version: [LAMELLA_ABI_MAJOR, LAMELLA_ABI_MINOR],
};

static mut API: *const lamella_api = null();
unsafe fn api() -> &'static lamella_api {
    &*API
}
// Makes a C string that is never freed.
fn text(s: &str) -> *const c_char {
    CString::new(s).unwrap().into_raw()
}
unsafe fn fail(kind: lamella_error_kind, message: &str) -> lamella_status {
    let owned = CString::new(message).unwrap();
    (api().raise.unwrap())(kind as i32, owned.as_ptr())
}

unsafe extern "C" fn shape(_: *mut lamella_frame, args: *const lamella_value, out: *mut lamella_meta) -> lamella_status {
    let x = &*(*args).as_.tensor;
    if x.dtype as u32 != lamella_dtype_LAMELLA_FLOAT32 {
        return fail(lamella_error_kind_LAMELLA_TYPE_ERROR, "rusty::twice: argument 'x' must be float32");
    }
    (*out).dtype = x.dtype;
    (*out).ndim = x.dl.ndim;
    for i in 0..x.dl.ndim as usize {
        (*out).sizes[i] = *x.dl.shape.add(i);
    }
    0
}

struct Parts {
    to: *mut f32,
    from: *const f32,
}
unsafe extern "C" fn body(context: *mut c_void, begin: i64, end: i64) -> lamella_status {
    let parts = &*(context as *const Parts);
    for i in begin as usize..end as usize {
        *parts.to.add(i) = 2.0 * *parts.from.add(i);
    }
    0
}
unsafe extern "C" fn twice(_: *mut lamella_frame, args: *const lamella_value, rets: *mut lamella_value) -> lamella_status {
    let x = &*(*args).as_.tensor;
    if x.flags as u32 & lamella_tensor_flags_LAMELLA_CONTIGUOUS == 0 {
        return fail(lamella_error_kind_LAMELLA_NOT_IMPLEMENTED, "rusty::twice: argument 'x' must be contiguous");
    }
    let to = (*(*rets).as_.tensor).dl.data as *mut f32;
    let mut parts = Parts { to, from: x.dl.data as *const f32 };
    (api().parallel_for.unwrap())(0, x.numel, 4096, Some(body), &mut parts as *mut Parts as *mut c_void)
}

// four(x) is twice(twice(x)): a composite.
unsafe extern "C" fn four(frame: *mut lamella_frame, args: *const lamella_value, rets: *mut lamella_value) -> lamella_status {
    let (name, none) = (CString::new("rusty::twice").unwrap(), CString::new("").unwrap());
    let op = (api().find_operator.unwrap())(name.as_ptr(), none.as_ptr());
    let mut middle: lamella_value = std::mem::zeroed();
    let call = api().call.unwrap();
    let mut status = call(frame, op, args, 1, &mut middle, 1);
    if status == 0 {
        status = call(frame, op, &middle, 1, rets, 1);
        (api().value_release.unwrap())(&mut middle);
    }
    status
}

unsafe fn kernel(library: *mut lamella_library, op: &str, key: &str, run: lamella_kernel, flags: u32) -> lamella_status {
    let def = lamella_kernel_def {
        size: size_of::<lamella_kernel_def>() as u32,
        flags,
        kernel: run,
        context: null_mut(),
        file: text("plugin.rs"),
        line: line!() as i32,
        num_args: 1,
    };
    (api().kernel.unwrap())(library, text(op), text(key), &def, null_mut())
}

unsafe fn register() -> Result<(), lamella_status> {
    let ok = |status: lamella_status| if status == 0 { Ok(()) } else { Err(status) };
    let def = lamella_library_def {
        size: size_of::<lamella_library_def>() as u32,
        version: LAMELLA_TARGET_VERSION,
        ns: text("rusty"),
        owner: text("plugin.rs"),
        kind: lamella_library_kind_LAMELLA_DEFINES,
        namespace_version: 0,
    };
    let mut library = null_mut();
    ok((api().library_open.unwrap())(&def, &mut library))?;
    for (schema, infer) in [("twice(Tensor x) -> Tensor", Some(shape as unsafe extern "C" fn(_, _, _) -> _)), ("four(Tensor x) -> Tensor", None)] {
        let mut op: lamella_operator_def = std::mem::zeroed();
        op.size = size_of::<lamella_operator_def>() as u32;
        op.schema = text(schema);
        op.infer = infer;
        ok((api().define.unwrap())(library, &op, null_mut()))?;
    }
    ok(kernel(library, "twice", "cpu", Some(twice), 0))?;
    ok(kernel(library, "four", "composite", Some(four), lamella_kernel_flags_LAMELLA_KERNEL_CALLS_OPERATORS))?;
    let derivative = Box::leak(Box::new(std::mem::zeroed::<lamella_derivative>()));
    derivative.size = size_of::<lamella_derivative>() as u32;
    derivative.formulas = text("x: grad * 2");
    let mut rule: lamella_rule = std::mem::zeroed();
    rule.size = size_of::<lamella_rule>() as u32;
    rule.op = text("twice");
    rule.layer = text("autograd");
    rule.payload = derivative as *mut lamella_derivative as *mut c_void;
    ok((api().rule.unwrap())(library, &rule, null_mut()))
}

#[no_mangle]
pub unsafe extern "C" fn lamella_plugin_init(table: *const lamella_api) -> lamella_status {
    API = table;
    match register() {
        Ok(()) => 0,
        Err(status) => status,
    }
}
