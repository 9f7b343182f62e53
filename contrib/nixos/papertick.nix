# A NixOS module, to import from a checkout.
#
#   imports = [ ./papertick/contrib/nixos/papertick.nix ];
#   services.papertick = { enable = true; settings.board = "rev-b"; };
{ config, lib, pkgs, ... }:
let
  cfg = config.services.papertick;
  file = (pkgs.formats.toml { }).generate "papertick.toml" cfg.settings;
in
{
  options.services.papertick = {
    enable = lib.mkEnableOption "papertick, a networked e-paper clock for Bitcoin data";
    package = lib.mkOption { type = lib.types.package; default = pkgs.callPackage ./package.nix { }; };
    port = lib.mkOption {
      type = lib.types.port;
      default = 80;
      description = "Port of the page and the control interface.";
    };
    settings = lib.mkOption {
      type = lib.types.attrs;
      default = { };
      description = "Content of the configuration file. The names are those of the flags of `papertick run`.";
    };
    openFirewall = lib.mkOption {
      type = lib.types.bool;
      default = false;
      description = "Opens the firewall for this port and for mDNS.";
    };
  };

  config = lib.mkIf cfg.enable {
    users.users.papertick = { isSystemUser = true; group = "papertick"; extraGroups = [ "spi" "i2c" "gpio" ]; };
    users.groups = { papertick = { }; spi = { }; i2c = { }; gpio = { }; };
    services.udev.extraRules = builtins.readFile ../../packaging/60-papertick.rules;
    systemd.sockets.papertick = {
      wantedBy = [ "sockets.target" ];
      socketConfig = { ListenStream = toString cfg.port; NoDelay = true; };
    };
    systemd.packages = [
      (pkgs.runCommand "papertick-unit" { } ''
        install -D ${../../packaging/systemd/papertick.service} $out/lib/systemd/system/papertick.service
        substituteInPlace $out/lib/systemd/system/papertick.service \
          --replace-fail /usr/bin/papertick ${cfg.package}/bin/papertick \
          --replace-fail /etc/papertick/papertick.toml ${file}
      '')
    ];
    systemd.services.papertick = { wantedBy = [ "multi-user.target" ]; environment.PAPERTICK_MANAGED_BY = "NixOS"; };
    networking.firewall = lib.mkIf cfg.openFirewall { allowedTCPPorts = [ cfg.port ]; allowedUDPPorts = [ 5353 ]; };
  };
}
