# The program as a Nix package: nix-build -E 'with import <nixpkgs> { }; callPackage ./contrib/nixos/package.nix { }'
{ lib, rustPlatform, installShellFiles }:
let
  root = ../..;
  manifest = (lib.importTOML (root + "/Cargo.toml")).workspace.package;
in
rustPlatform.buildRustPackage {
  pname = "papertick";
  inherit (manifest) version;
  src = lib.cleanSourceWith {
    src = lib.cleanSource root;
    # What a build in the checkout made.
    filter = path: type: !(lib.elem (baseNameOf path) [ "target" "node_modules" ] && type == "directory");
  };
  cargoLock.lockFile = root + "/Cargo.lock";
  cargoBuildFlags = [ "-p" "papertick" "--bin" "papertick" ];
  nativeBuildInputs = [ installShellFiles ];
  # The tests need programs of the host, such as a browser and an MQTT broker.
  doCheck = false;
  postInstall = ''
    $out/bin/papertick man man
    installManPage man/*
    for shell in bash zsh fish; do
      $out/bin/papertick completions $shell > papertick.$shell
      installShellCompletion papertick.$shell
    done
  '';
  meta = {
    description = "A networked e-paper clock for Bitcoin data";
    license = with lib.licenses; [ mit asl20 ];
    mainProgram = "papertick";
    platforms = lib.platforms.linux;
  };
}
