//! Compresses the files that are built into the program, so that it holds and sends each in one form.

use std::{
    env,
    error::Error,
    fmt::Write as _,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use flate2::{Compression, write::GzEncoder};

/// Names of the tables and their folders.
const FOLDERS: [(&str, &str); 2] = [("PAGE", "../../webui/dist"), ("DOCUMENTS", "../../docs")];

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mut tables = String::new();
    for (table, folder) in FOLDERS {
        println!("cargo::rerun-if-changed={folder}");
        let mut files = Vec::new();
        list(Path::new(folder), "", &mut files)?;
        files.sort();
        writeln!(tables, "pub static {table}: &[EmbeddedFile] = &[")?;
        for (index, (name, path)) in files.iter().enumerate() {
            let plain = fs::read(path)?;
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(&plain)?;
            let compressed = encoder.finish()?;
            let is_gzip = compressed.len() < plain.len();
            let file = out.join(format!("{table}-{index}"));
            fs::write(&file, if is_gzip { compressed } else { plain })?;
            writeln!(
                tables,
                "EmbeddedFile {{ name: {name:?}, bytes: include_bytes!({file:?}), is_gzip: {is_gzip} }},"
            )?;
        }
        tables.push_str("];\n");
    }
    fs::write(out.join("embedded.rs"), tables)?;
    Ok(())
}

/// Lists the files of a folder and its folders, each with its path relative to the first folder.
fn list(
    folder: &Path,
    prefix: &str,
    files: &mut Vec<(String, PathBuf)>,
) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = format!("{prefix}{}", name.to_str().ok_or("a name is not UTF-8")?);
        let path = entry.path().canonicalize()?;
        if path.is_dir() {
            list(&path, &format!("{name}/"), files)?
        } else {
            files.push((name, path))
        }
    }
    Ok(())
}
